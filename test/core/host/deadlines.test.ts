// Every wait has a deadline: what hangs is named and abandoned, and neither timers nor a stop wait for it.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { kid, lives } from '../../support/kids.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { spawnStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const plugin = (name: string, body: string, extra = '') =>
  `export default { name: '${name}', host: '^1', ${extra} setup (host) { ${body} } }`;
const never = '() => new Promise(() => {})';
const loading = { importMs: 60_000, setupMs: 60_000 };

t.test('a hanging tap on host.ready delays neither timers nor a stop', async t => {
  const configDir = testDir(t, {
    plugins: {
      hanging: {
        'index.js': plugin(
          'hanging',
          `
    host.tap('host.ready', ${never})
    host.tap('host.stopping', ${never})
    host.every(5, () => { globalThis.ticks = (globalThis.ticks ?? 0) + 1 })
    host.route({ method: 'GET', path: '/ticks', summary: 'x', handle: () => ({ ticks: globalThis.ticks ?? 0 }) })`,
        ),
      },
    },
  });
  const port = await writeConfig(configDir, { kid: kid('Kid', ['calm'], { enabled: true }) });
  const host = await startHostProcess(port, { configDir, deadlines: { ...loading, callMs: { tap: 500 } } });
  await until(async () => ((await host.json('/ticks')) as { ticks: number }).ticks > 2, { what: 'the timer to run' });
  await until(() => host.output().includes('tap on host.ready of hanging takes longer than 500 ms and is left behind'));
  await until(async () => {
    const status = (await host.json('/process/service-status?process_name=Kid')) as { status: string };
    return status.status === 'running';
  });
  const state = JSON.parse(await readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8'));
  const { pid } = state.processes.Kid;
  t.ok(lives(pid));
  host.child.kill('SIGTERM');
  t.equal(await host.exited, 1, 'not everything came to its end');
  t.notOk(lives(pid), 'what it supervised was stopped');
  t.match(host.output(), /tap on host\.stopping of hanging takes longer than/);
});

t.test('a stop that comes while plugins are loaded ends the host in order', async t => {
  const configDir = testDir(t, {});
  await writeConfig(configDir);
  await mkdir(path.join(configDir, 'plugins', 'slow'), { recursive: true });
  await writeFile(
    path.join(configDir, 'plugins', 'slow', 'index.js'),
    plugin('slow', `console.log('slow is being set up'); return new Promise(() => {})`),
  );
  const service = spawnStackwarden(configDir, { args: ['start', '--plugins', 'slow'] });
  await until(() => service.stdout().includes('slow is being set up'));
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
  t.match(service.stdout(), /the setup of slow was cut short: the host is stopping/);
});

t.test('a contribution that does not fit fails its contributor, whichever comes first', async t => {
  const owner = (name: string, extra = '') =>
    `let zod
    export default { name: '${name}', host: '^1', ${extra} config: z => { zod = z; return z.object({}) }, setup (host) {
      const list = host.point('fixture.point', { schema: zod.looseObject({ call: zod.custom(value => typeof value === 'function', 'it must be a function') }) })
      host.route({ method: 'GET', path: '/rows', summary: 'x', handle: () => [...list].map(({ owner, key }) => ({ owner, key })) })
    } }`;
  const bad = `host.contribute('fixture.point', 'bad', { other: 1 })`;
  const dir = testDir(t, {
    after: { 'index.js': plugin('after', bad, `after: ['owner'],`) },
    before: { 'index.js': plugin('before', bad.replace('bad', 'bad-too')) },
    dependent: { 'index.js': plugin('dependent', '', `needs: ['before'],`) },
    good: { 'index.js': plugin('good', `host.contribute('fixture.point', 'good', { call: () => 1 })`) },
    owner: { 'index.js': owner('owner', `after: ['before'],`) },
    second: { 'index.js': owner('second', `after: ['owner'],`) },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const row = (name: string) => app.host.plugins().find(found => found.name === name);
  t.match(row('after'), {
    state: 'failed',
    reason: /^fixture\.point 'bad' of after is not what the point asks for: call: it must be a function/,
  });
  t.match(row('before'), {
    state: 'failed',
    reason: /^fixture\.point 'bad-too' of before is not what the point asks for: call: it must be a function/,
  });
  t.match(row('dependent'), { state: 'skipped', reason: 'needs before' });
  t.match(row('second'), { state: 'failed', reason: /'fixture\.point' of second is already owned by owner/ });
  t.same((await app.get('/rows')).body, [{ owner: 'good', key: 'good' }]);
});

t.test('an abandoned set-up can register nothing afterwards', async t => {
  const dir = testDir(t, {
    late: {
      'index.js': `export default { name: 'late', host: '^1', async setup (host) {
        await new Promise(resolve => { globalThis.releaseLate = resolve })
        try {
          host.route({ method: 'GET', path: '/late', summary: 'x', handle: () => 1 })
        } catch (error) {
          globalThis.lateRefusal = error.message
        }
      } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir], deadlines: { importMs: 60_000, setupMs: 200 } });
  t.teardown(() => app.stop());
  t.match(app.host.plugins()[0], { state: 'failed', reason: /the setup of late takes longer than 200 ms/ });
  const shared = globalThis as { releaseLate?: () => void; lateRefusal?: string };
  shared.releaseLate?.();
  t.match(await until(() => shared.lateRefusal), /registers something after it was disposed/);
  t.equal((await app.get('/late')).status, 404);
});

t.test('an abandoned set-up or stream is disposed of when it ends late', async t => {
  const dir = testDir(t, {
    late: {
      'index.js': `export default { name: 'late', host: '^1', async setup (host) {
        await new Promise(resolve => { globalThis.releaseSetUp = resolve })
        return () => { globalThis.disposedLate = 'set-up' }
      } }`,
    },
    slow: {
      'index.js': `export default { name: 'slow', host: '^1', setup (host) {
        host.stream({ path: '/ws/slow', summary: 'x', async open () {
          await new Promise(resolve => { globalThis.releaseOpen = resolve })
          return () => { globalThis.closedLate = 'stream' }
        } })
      } }`,
    },
  });
  const deadlines = { importMs: 60_000, setupMs: 200, callMs: { stream: 200 } };
  const app = await startHost({ pluginDirs: [dir], deadlines });
  t.teardown(() => app.stop());
  const shared = globalThis as Record<string, unknown> & { releaseSetUp?: () => void; releaseOpen?: () => void };
  t.match(app.host.plugins().find(({ name }) => name === 'late')?.reason, /the setup of late takes longer/);
  shared.releaseSetUp?.();
  t.equal(await until(() => shared.disposedLate), 'set-up');
  const closed = new Promise(resolve => app.ws('/ws/slow').once('close', resolve));
  t.equal(await closed, 1011);
  shared.releaseOpen?.();
  t.equal(await until(() => shared.closedLate), 'stream');
});

t.test('a stream that fails is counted as a fault of its plugin', async t => {
  const body = `host.route({ method: 'GET', path: '/failing', summary: 'x',
    handle: () => new Readable({ read () { this.destroy(new Error('the source is broken')) } }) })`;
  const source = `import { Readable } from 'node:stream'\n${plugin('failing', body)}`;
  const app = await startHost({ pluginDirs: [testDir(t, { failing: { 'index.js': source } })], deadlines: loading });
  t.teardown(() => app.stop());
  await t.rejects(app.get('/failing'), 'the answer is not whole');
  t.same(app.host.plugins()[0]?.errors, { route: 1 });
  await until(async () => /the stream that GET \/failing gives: the source is broken/.test(await ownLog(app)));
});

t.test('a stream that stalls is a fault, and its client is disconnected', async t => {
  const contract = new URL('../../../core/contract/route.ts', import.meta.url).href;
  const body = `host.route({ method: 'GET', path: '/stalled', summary: 'x', compress: true, async handle () {
    const { answer } = await import('${contract}')
    async function * parts () { yield 'the beginning'; await new Promise(() => {}) }
    return answer(Readable.from(parts()))
  } })`;
  const source = `import { Readable } from 'node:stream'\n${plugin('stalling', body)}`;
  const app = await startHost({
    pluginDirs: [testDir(t, { stalling: { 'index.js': source } })],
    deadlines: { ...loading, callMs: { route: 200 } },
  });
  t.teardown(() => app.stop());
  for (const [round, encoding] of ['identity', 'gzip'].entries()) {
    await t.rejects(app.get('/stalled', { 'accept-encoding': encoding }), 'the answer is not whole');
    t.same(app.host.plugins()[0]?.errors, { route: round + 1 });
  }
  const late = 'the stream that GET /stalled gives of stalling takes longer than 200 ms and is left behind';
  await until(async () => (await ownLog(app)).includes(late));
});
