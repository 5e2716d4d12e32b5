// What other plugins contribute about a kind of service: placeholders, survivors, and its place in a boot.
import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { kid, pidOf, start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { isRoot, NOBODY } from '../../support/race.ts';
import { until } from '../../support/until.ts';

const ACME = `export default { name: 'acme', host: '^1', setup(host) {
  host.contribute('process.placeholders', 'acme', { values: ({ key }) => ({ acme_word: 'word of ' + key, tz: 'Acme' }) });
  host.contribute('process.launch-policy', 'face', { configKey: 'face', bootsFirst: true });
  host.contribute('process.survivor', 'vault', {
    configKey: 'vault',
    async find({ block }, workingIn) {
      const [found, other] = workingIn(block.config_dir);
      if (other !== undefined) throw new Error('two of them work in ' + block.config_dir);
      return found === undefined ? null : { pid: found.pid };
    },
  }) } }`;

t.test('placeholders, survivors and the first of a boot can be contributed', async t => {
  const dir = testDir(t, { seen: '', vault: {}, unclear: {}, foreign: {}, plugins: { acme: { 'index.mjs': ACME } } });
  await chmod(dir, 0o755);
  for (const place of ['seen', 'vault', 'unclear', 'foreign']) await chmod(path.join(dir, place), 0o777);
  const survivors = ['vault', 'unclear', 'unclear', 'foreign'].map(name => {
    const user = isRoot && name !== 'foreign' ? { uid: NOBODY, gid: NOBODY } : {};
    const child = execFile('sleep', ['1000'], { cwd: path.join(dir, name), ...user });
    t.teardown(() => child.kill('SIGKILL'));
    return child.pid;
  });
  const seen = path.join(dir, 'seen');
  const script = `echo "{acme_word}, {tz}, {nobody}" >> ${seen}; exec sleep 600`;
  const vault = (name: string, directory: string) =>
    kid(name, ['calm'], { enabled: true, config_dir: path.join(dir, directory) });
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: ['config', 'process', 'acme'],
    config: {
      tz: 'Europe/Vienna',
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      reader: kid('Reader', ['calm'], { enabled: true, command: ['sh', '-c', script] }),
      vault: {
        instances: {
          Good: vault('Good', 'vault'),
          Unclear: vault('Unclear', 'unclear'),
          Foreign: vault('Foreign', 'foreign'),
        },
      },
      face: { instances: { Bare: { enabled: true, process_name: 'Bare', command: [] } } },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal === true);
  t.equal(
    (await readFile(seen, 'utf8')).trim(),
    'word of reader, Europe/Vienna, {nobody}',
    'the own values come first',
  );
  t.equal(await pidOf(app, 'Good'), survivors[0], 'what runs already is adopted');
  const { failures, expected_services: expected } = (await app.get('/process/startup-status')).body;
  t.match(
    failures.Unclear,
    /^Unclear is not started, because the plugin acme, which tells whether it runs already, fails: two of them work in/,
    'and not started beside what cannot be told apart',
  );
  if (isRoot) t.match(failures.Foreign, /not started beside process \d+ of user 0, which uses its data/);
  t.notOk(expected.includes('Bare'), 'one that comes first is not expected without a command');
  t.equal((await status(app, 'Bare')).status, 'stopped');
});

t.test('a search for survivors may answer, or fail, at once', async t => {
  const source = `export default { name: 'hasty', host: '^1', setup(host) {
    host.contribute('process.survivor', 'calm', { configKey: 'calm', find: () => null });
    host.contribute('process.survivor', 'odd', { configKey: 'odd', find: () => { throw new Error('no search') } }) } }`;
  const app = await startHost({
    pluginDirs: [pluginsDir, testDir(t, { hasty: { 'index.mjs': source } })],
    plugins: ['config', 'process', 'hasty'],
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      calm: kid('Calm', ['calm'], { enabled: true }),
      odd: kid('Odd', ['calm'], { enabled: true }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal === true);
  t.match((await app.get('/process/startup-status')).body.failures, {
    Calm: undefined,
    Odd: /^Odd is not started, because the plugin hasty, which tells whether it runs already, fails: no search/,
  });
  t.equal((await status(app, 'Calm')).status, 'running');
});

t.test('a plugin that fails to give placeholders affects only services that may need them', async t => {
  const giver = (name: string, values: string) => ({
    'index.mjs': `export default { name: '${name}', host: '^1', setup(host) {
      host.contribute('process.placeholders', '${name}', { values: () => { ${values} } }) } }`,
  });
  const plugins = {
    broken: giver('broken', `throw new Error('no values')`),
    other: giver('other', `return { word: 'w' }`),
  };
  const app = await startHost({
    pluginDirs: [pluginsDir, testDir(t, plugins)],
    plugins: ['config', 'process', 'broken', 'other'],
    config: {
      plain: kid('Plain', ['calm'], { env: { WORD: '{word}' } }),
      needy: kid('Needy', ['calm'], { env: { SECOND: '{second}' } }),
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Plain')).status, 200);
  t.match(await start(app, 'Needy'), {
    status: 503,
    body: { detail: 'Needy has no value for {second}, because the plugin broken, which may know it, fails: no values' },
  });
  const row = app.host.plugins().find(({ name }) => name === 'broken');
  t.match(row, { state: 'ready', errors: { contribution: 2 } });
});

t.test('the next plugin is asked when one gives no order', async t => {
  const giver = (name: string, order: string) => ({
    'index.mjs': `export default { name: '${name}', host: '^1', setup(host) {
      host.contribute('process.dependencies', '${name}', { startOrder: async () => { ${order} } }) } }`,
  });
  const plugins = {
    broken: giver('broken', `throw new Error('no order')`),
    other: giver('other', `return { needs: new Map([['Late', new Set(['Early'])]]), cycles: [] }`),
  };
  const app = await startHost({
    pluginDirs: [pluginsDir, testDir(t, plugins)],
    plugins: ['config', 'process', 'broken', 'other'],
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      late: kid('Late', ['calm'], { enabled: true }),
      early: kid('Early', ['calm'], { enabled: true }),
    },
  });
  t.teardown(() => app.stop());
  const report = async () => (await app.get('/process/startup-status')).body;
  await until(async () => (await report()).terminal === true);
  t.match((await report()).critical_chain, [{ process_name: 'Early' }, { process_name: 'Late', waited_for: 'Early' }]);
  t.match(await ownLog(app), /broken cannot give the order of starts and stops; somebody else decides it: no order/);
});
