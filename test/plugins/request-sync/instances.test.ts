// Request managers on this machine: their roles, the keys in their own files, which may hold anything, and changes at
// run time.
import { execFileSync } from 'node:child_process';
import { chown, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';
import { until } from '../../support/until.ts';

const NOBODY = 65_534;
/** At this pace ten seconds between two cycles become half a second. */
const PACE = 0.05;

t.test('instances can be primary and subordinate', async t => {
  const root = testDir(t);
  const one = await startRequestManager(t, { name: 'one' });
  const two = await startRequestManager(t, { name: 'two' });
  const place = async (name: string) => {
    const directory = path.join(root, name);
    await mkdir(directory);
    await chown(directory, NOBODY, NOBODY);
    return path.join(directory, 'settings.json');
  };
  const files = { one: await place('one'), two: await place('two') };
  const writeKey = (file: string, apiKey: string) => writeFile(file, JSON.stringify({ main: { apiKey, locale: '' } }));
  const block = (name: 'One' | 'Two', url: string, file: string) => ({
    enabled: true,
    process_name: name,
    port: Number(new URL(url).port),
    config_dir: path.dirname(file),
    config_file: file,
    command: ['sleep', '600'],
  });
  const blocks = { One: block('One', one.url, files.one), Two: block('Two', two.url, files.two) };
  const app = await startHost({
    plugins: ['request-sync', 'config', 'config-files', 'format-json', 'services'],
    pace: PACE,
    config: {
      puid: NOBODY,
      pgid: NOBODY,
      seerr_sync: { enabled: true, poll_interval_seconds: 10 },
      seerr: { instances: blocks },
    },
  });
  t.teardown(() => app.stop());
  const status = async () => (await app.get('/request-sync/status')).body;
  const says = (text: RegExp) => until(async () => text.test(JSON.stringify(await status())), { what: String(text) });
  const setRole = async (name: 'One' | 'Two', sync_role: string) => {
    const updates = { ...blocks[name], sync_role };
    const answer = await app.post('/config/', { process_name: name, updates, persist: true });
    t.equal(answer.status, 200, answer.text);
  };
  const setEnabled = (enabled: boolean) =>
    app.post('/config', { updates: { seerr_sync: { enabled } }, persist: false });
  one.manager.ask({ mediaType: 'movie', tmdbId: 603 });

  await says(/there is no primary/);
  await setRole('One', 'primary');
  await says(/there is no subordinate/);
  await setRole('Two', 'subordinate');
  await says(/internal:One is not ready: its config_file has no API key yet/);
  t.match(await status(), { status: 'initializing' });

  await t.test("a file that is not the program's own gives no key", async t => {
    const secret = path.join(root, 'elsewhere.json');
    await writeKey(secret, one.manager.apiKey);
    const forms: [string, () => unknown][] = [
      ['a link', () => symlink(secret, files.one)],
      ['a FIFO', () => execFileSync('mkfifo', [files.one])],
      ['a directory', () => mkdir(files.one)],
      [
        'too large',
        async () => {
          await writeKey(files.one, one.manager.apiKey);
          await truncate(files.one, 64 * 1024 * 1024);
        },
      ],
      ['no JSON', () => writeFile(files.one, '{"main":{"apiKey":"')],
      ['another type', () => writeFile(files.one, '{"main":{"apiKey":{"a":1}}}')],
      ['too deep', () => writeFile(files.one, `{"main":${'['.repeat(200)}${']'.repeat(200)}}`)],
    ];
    await writeKey(files.two, two.manager.apiKey);
    for (const [what, make] of forms) {
      await rm(files.one, { recursive: true, force: true });
      await make();
      const before = one.manager.journal.calls().length;
      // After it is enabled again, it reports nothing before its first cycle.
      await setEnabled(false);
      await until(async () => (await status()).status === 'disabled');
      await setEnabled(true);
      await says(/internal:One is not ready: its config_file/);
      t.equal(one.manager.journal.calls().length, before, `${what}: nobody is asked`);
    }
    await rm(files.one, { recursive: true, force: true });
  });

  await writeKey(files.one, one.manager.apiKey);
  await until(() => two.manager.requests.length === 1);
  t.match(await status(), { subordinates: { 'internal:Two': { synced: 1, failed: 0 } } });

  await t.test('a changed key is read, and a changed role takes effect', async t => {
    two.manager.loseData();
    Object.assign(two.manager, { apiKey: 'renewed' });
    await writeKey(files.two, 'renewed');
    one.manager.ask({ mediaType: 'movie', tmdbId: 604 });
    await until(() => two.manager.requests.length === 1);
    await setRole('Two', 'disabled');
    await until(async () => /no subordinate/.test((await status()).last_error));
    t.match((await status()).subordinates, { 'internal:Two': { synced: 2 } }, 'what is known of it is still shown');
    await setEnabled(false);
    await until(async () => (await status()).status === 'disabled');
    const calls = one.manager.journal.calls().length;
    t.equal((await app.get('/request-sync/failed')).body.count, 0, 'answers while it is off');
    t.equal(one.manager.journal.calls().length, calls);
  });
  t.notMatch((await app.get('/request-sync/state')).text, /key-of|renewed/);
});
