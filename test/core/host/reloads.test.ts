// A plugin that is unloaded and loaded while the host runs: nothing of its earlier loads stays in memory.
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { heldBytes } from '../../support/held-memory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

/** More turns would exceed the number of loads of a folder per minute. */
const TURNS = 5;
const TURNS_OF_STOP = 50;

/**
 * Uses each seam with a large object that is known by a weak reference. Node never unloads a module, and a promise of
 * a module keeps the async context in which it was made.
 */
const GUEST = `let ofModule
export default { name: 'guest', host: '^1', needs: ['neighbour'], async setup (host) {
  const large = { bytes: 'guest'.repeat(100_000) }
  globalThis.guests.push(new WeakRef(large))
  const use = () => large.bytes.length
  host.stream({ path: '/ws/guest', summary: 'x', open: () => use })
  for (const name of ['host.ready', 'config.changed', 'config.check', 'host.stopping', 'neighbour.moment'])
    host.tap(name, () => { use() })
  host.on('*', () => { use() })
  host.event('guest.event', { description: 'never' })
  host.hook('guest.hook', 'series')
  host.point('guest.point', {})
  host.provide('guest.service', { use })
  host.contribute('neighbour.point', 'guest', { use })
  host.contribute('config.block', 'guest', { schema: host.z.looseObject({ guest_key: host.z.string().optional() }) })
  host.every(20, () => { use() })
  host.cron('* * * * * *', () => { use() })
  const jobs = await host.jobs('work', { keep: { records: 1 }, run: ({ signal }) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => { use(); reject(signal.reason) })
  }) })
  jobs.watch(() => { use() })
  void jobs.start('the-key').catch(() => undefined)
  const database = host.database('notes', { statements: 'notes' })
  await database.open()
  host.use('log.hub').subscribe(() => { use() })
  await host.use('neighbour.service').take({ signal: host.signal, use })
  host.route({ method: 'GET', path: '/guest', summary: 'x', capability: 'guest', handle: () => ({ length: use() }) })
  ofModule = Promise.resolve()
  host.signal.addEventListener('abort', use)
  large.begin = () => setInterval(use, 1_000)
  const timer = large.begin()
  return () => clearInterval(timer)
} }`;

/** Has a signal that outlives the calls to which it is passed, and uses a service that listens to it. */
const NEIGHBOUR = `export default { name: 'neighbour', host: '^1', setup (host) {
  const hook = host.hook('neighbour.moment', 'series')
  const list = host.point('neighbour.point', {})
  host.provide('neighbour.service', { take: given => given.use() })
  host.route({ method: 'GET', path: '/neighbour', summary: 'x', async handle () {
    await hook.promise({ signal: host.signal })
    return [...list].map(({ value }) => value.use(host.signal))
  } })
} }`;

function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>(resolve => {
    open = resolve;
  });
  return { opened, open };
}

t.test('a folder that is moved away and back leaves nothing in memory', async t => {
  const shared = globalThis as { guests?: WeakRef<object>[] };
  const guests: WeakRef<object>[] = [];
  shared.guests = guests;
  const dir = testDir(t, {
    plugins: {
      neighbour: { 'index.js': NEIGHBOUR },
      guest: { 'index.js': GUEST, 'notes.js': `export const migrations = ['CREATE TABLE notes (text)']` },
    },
    away: {},
  });
  const app = await startHost({ pluginDirs: [path.join(dir, 'plugins')] });
  t.teardown(() => app.stop());
  const here = path.join(dir, 'plugins', 'guest');
  const away = path.join(dir, 'away', 'guest');
  const answers = (status: number) => until(async () => (await app.get('/guest')).status === status);
  const open = async () => ({
    descriptors: (await readdir('/proc/self/fd')).length,
    threads: (await readdir('/proc/self/task')).length,
  });
  const turn = async (): Promise<void> => {
    await answers(200);
    t.equal((await app.get('/neighbour')).status, 200);
    await rename(here, away);
    await answers(404);
  };
  await turn();
  const before = await open();
  for (let number = 1; number < TURNS; number += 1) {
    await rename(away, here);
    await turn();
  }
  t.equal(guests.length, TURNS);
  const kept = () => {
    heldBytes();
    return guests.filter(guest => guest.deref() !== undefined).length;
  };
  await until(() => kept() <= 1, { what: 'earlier loads to be collected' });
  await until(async () => (await open()).threads <= before.threads, { what: 'threads of databases to end' });
  await until(async () => (await open()).descriptors <= before.descriptors + 2, { what: 'descriptors to be closed' });
  t.same(app.host.plugins().find(({ name }) => name === 'neighbour')?.errors, {});
});

t.test('a link to another folder loads that folder', async t => {
  const release = (version: number) => ({
    'index.js': `import { version } from './version.js'
      export default { name: 'linked', host: '^1', version, setup() {} }`,
    'version.js': `export const version = '${version}'`,
  });
  const dir = testDir(t, { plugins: {}, releases: { 1: release(1), 2: release(2) } });
  const folder = path.join(dir, 'plugins', 'linked');
  await symlink(path.join(dir, 'releases', '1'), folder);
  const app = await startHost({ pluginDirs: [path.join(dir, 'plugins')] });
  t.teardown(() => app.stop());
  const runs = (version: string) =>
    until(() => app.host.plugins().find(({ name }) => name === 'linked')?.version === version, { what: version });
  await runs('1');
  const swap = async (number: string): Promise<void> => {
    const link = path.join(dir, `to-${number}`);
    await symlink(path.join(dir, 'releases', number), link);
    await rename(link, folder);
    await runs(number);
  };
  await swap('2');
  await swap('1');
  await rm(folder);
  await mkdir(folder);
  for (const [name, text] of Object.entries(release(3))) await writeFile(path.join(folder, name), text);
  await runs('3');
});

t.test('a stop waits for a plugin that is being loaded again', async t => {
  const shared = globalThis as { setUps?: number; setUp?: () => Promise<void>; stopping?: () => Promise<void> };
  const dir = testDir(t, {
    plugins: {
      guest: {
        'index.js': `export default { name: 'guest', host: '^1', async setup (host) {
          globalThis.setUps += 1
          await globalThis.setUp()
          host.tap('host.stopping', () => globalThis.stopping())
        } }`,
      },
    },
  });
  const file = path.join(dir, 'plugins/guest/index.js');
  shared.setUps = 0;
  shared.setUp = async () => undefined;
  const app = await startHost({ pluginDirs: [path.join(dir, 'plugins')] });
  t.teardown(() => app.stop());
  const loading = gate();
  shared.setUp = () => loading.opened;
  const text = await readFile(file, 'utf8');
  // The clock of files lags behind on a busy machine, so that a change right after the start may look older than that.
  const isLoadedAgain = async (): Promise<boolean> => {
    if (shared.setUps === 2) return true;
    await writeFile(file, `${text} `);
    return false;
  };
  await until(isLoadedAgain, { what: 'the plugin to be loaded again', intervalMs: 1_000 });
  let stops = 0;
  shared.stopping = async () => {
    stops += 1;
  };
  const stopped = app.host.stop();
  // A host that does not wait is past its last notice to plugins by then.
  for (let turn = 0; turn < TURNS_OF_STOP; turn += 1) await nextTurn();
  loading.open();
  await stopped;
  t.equal(stops, 1);
});

t.test('no plugin is loaded again after a stop began', async t => {
  interface Shared {
    loads: string[];
    setUp: (load: string) => Promise<void>;
    stopping: (load: string) => Promise<void>;
  }
  const shared = globalThis as Partial<Shared>;
  const plugin = (name: string, version: number): string => `export default {
    name: '${name}', host: '^1', async setup (host) {
      const load = host.paths.configDir + ' ${name} ${version}'
      globalThis.loads.push(load)
      await globalThis.setUp(load)
      host.tap('host.stopping', () => globalThis.stopping(load))
    } }`;
  const dir = testDir(t, {
    plugins: { guest: { 'index.js': plugin('guest', 1) }, other: { 'index.js': plugin('other', 1) } },
    one: {},
    two: {},
  });
  const loads: string[] = [];
  const [one, two] = [path.join(dir, 'one'), path.join(dir, 'two')];
  const [loading, stopping] = [gate(), gate()];
  shared.loads = loads;
  shared.setUp = async load => {
    if (load === `${one} guest 2`) await loading.opened;
  };
  shared.stopping = async load => {
    loads.push(`${load} stops`);
    if (load.startsWith(one)) await stopping.opened;
  };
  const pluginDirs = [path.join(dir, 'plugins')];
  const first = await startHost({ configDir: one, pluginDirs });
  // A host that goes on shows when a change is noticed.
  const second = await startHost({ configDir: two, pluginDirs });
  for (const app of [first, second]) t.teardown(() => app.stop());
  const change = async (name: string, version: number): Promise<void> => {
    const isSeen = async (): Promise<boolean> => {
      if (loads.includes(`${two} ${name} ${version}`)) return true;
      await writeFile(path.join(dir, 'plugins', name, 'index.js'), plugin(name, version));
      return false;
    };
    await until(isSeen, { what: `version ${version} of ${name}`, intervalMs: 1_000 });
  };
  await change('guest', 2);
  await until(() => loads.includes(`${one} guest 2`), { what: 'a load that is under way' });
  for (const version of [2, 3]) await change('other', version);
  const stopped = first.host.stop();
  loading.open();
  await until(() => loads.includes(`${one} guest 2 stops`), { what: 'the stop' });
  for (const version of [4, 5]) await change('other', version);
  stopping.open();
  await stopped;
  t.same(
    loads.filter(load => load.startsWith(one)).sort(),
    ['guest 1', 'guest 2', 'guest 2 stops', 'other 1', 'other 1 stops'].map(load => `${one} ${load}`),
  );
});
