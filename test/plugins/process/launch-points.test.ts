// What other plugins tell about a kind of service: values for its texts, what runs already, and its place in a boot.
import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { kid, pidOf, status } from '../../support/kids.ts';
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

t.test('placeholders, a survivor and the first of a boot', async t => {
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
  t.match(failures.Unclear, /two of them work in/, 'and not started beside what cannot be told apart');
  if (isRoot) t.match(failures.Foreign, /not started beside process \d+ of user 0, which uses its data/);
  t.notOk(expected.includes('Bare'), 'one that comes first is not expected without a command');
  t.equal((await status(app, 'Bare')).status, 'stopped');
});
