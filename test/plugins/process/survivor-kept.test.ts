// A survivor that does not lead its process group is also known to later hosts, with all its facts.
import { execFile } from 'node:child_process';
import { chmod, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { isRoot, NOBODY } from '../../support/race.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'acme'];
const ACME = `export default { name: 'acme', host: '^1', setup(host) {
  host.contribute('process.survivor', 'vault', {
    configKey: 'vault',
    async find({ block }, workingIn) {
      const [found] = workingIn(block.config_dir);
      return found === undefined ? null : { pid: found.pid };
    },
  }) } }`;

t.test('a survivor in the group of its starter stays known', { timeout: 200_000 }, async t => {
  const configDir = testDir(t, { vault: {}, plugins: { acme: { 'index.mjs': ACME } } });
  await chmod(configDir, 0o755);
  const vault = path.join(configDir, 'vault');
  await chmod(vault, 0o777);
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  // It is in the process group of this test, to which no host may send a signal.
  const survivor = execFile('sleep', ['1000'], { cwd: vault, ...user });
  t.teardown(() => survivor.kill('SIGKILL'));
  const port = await writeConfig(configDir, {
    ...(isRoot ? { puid: NOBODY, pgid: NOBODY } : {}),
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    vault: { enabled: true, process_name: 'Vault', command: ['sleep', '600'], config_dir: vault },
    other: { enabled: true, process_name: 'Other', command: ['sleep', '600'] },
  });
  const open = async () => {
    const host = await startStackwarden(configDir, port, { plugins: PLUGINS });
    const ask = async (route: string) =>
      (await fetch(`${host.base}${route}`)).json() as Promise<Readonly<Record<string, unknown>>>;
    await until(async () => (await ask('/process/startup-status')).terminal === true, { what: 'the boot' });
    return { host, ask };
  };
  const pids = async () => {
    const { processes } = JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8'));
    return [processes.Vault?.pid, processes.Other?.pid];
  };

  const first = await open();
  const before = await pids();
  t.equal(before[0], survivor.pid);
  first.host.child.kill('SIGKILL');
  await first.host.exited;

  const second = await open();
  t.same(await pids(), before, 'both are adopted');
  const files = await readdir(path.join(configDir, 'supervisor'));
  t.notOk(
    files.some(file => file.includes('corrupt')),
    'no state is set aside',
  );
  t.match(await second.ask('/process/service-status?process_name=Vault'), { status: 'running' });
  second.host.child.kill('SIGTERM');
  await second.host.exited;
  await until(() => survivor.exitCode !== null || survivor.signalCode !== null, { what: 'the survivor to be stopped' });
});
