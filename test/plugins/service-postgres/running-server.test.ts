// A server that runs before the host starts: it is adopted, or the start is refused when it cannot be identified.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { kid, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const settled = (app: TestHost) => until(async () => (await app.get('/process/startup-status')).body.terminal === true);
const instantly = { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } };

/** The user of services; processes of other users are not taken for services. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

t.test('a database server that runs already', async t => {
  // A process that works in the data directory and is named by its pid file counts as the server.
  const dir = testDir(t, { good: {}, unclear: {}, lent: {} });
  const elsewhere = path.join(dir, 'another', 'supervisor');
  const env = { STACKWARDEN_RUN_ID: 'r', STACKWARDEN_PROCESS_NAME: 'Lent', STACKWARDEN_RECORDED_IN: elsewhere };
  const servers = ['good', 'unclear', 'lent'].map(name => {
    const cwd = path.join(dir, name);
    const child = execFile('sleep', ['1000'], {
      cwd,
      ...user,
      ...(name === 'lent' ? { env: { ...process.env, ...env } } : {}),
    });
    t.teardown(() => child.kill('SIGKILL'));
    return { cwd, pid: child.pid };
  });
  const second = execFile('sleep', ['1000'], { cwd: path.join(dir, 'unclear'), ...user });
  t.teardown(() => second.kill('SIGKILL'));
  for (const { cwd, pid } of servers) {
    await writeFile(path.join(cwd, 'postmaster.pid'), `${pid}\n${cwd}\n${Math.floor(Date.now() / 1_000)}\n5432\n`);
  }
  const block = (name: string, directory: string) =>
    kid(name, ['calm'], { enabled: true, config_dir: path.join(dir, directory) });
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', 'services', 'setup', 'service-postgres'],
    config: {
      dumb: { ...instantly },
      postgres: {
        instances: { Good: block('Good', 'good'), Unclear: block('Unclear', 'unclear'), Lent: block('Lent', 'lent') },
      },
    },
  });
  t.teardown(() => app.stop());
  await settled(app);
  const state = JSON.parse(await readFile(`${app.configDir}/supervisor/state.json`, 'utf8'));
  t.equal(state.processes.Good.pid, servers[0]?.pid, 'one server: adopted');
  t.equal((await status(app, 'Good')).status, 'running');
  const { failures } = (await app.get('/process/startup-status')).body;
  t.match(failures.Unclear, /not its one database server/);
  const expected = `which the Stackwarden of ${path.join(dir, 'another')} runs on its data; stop it there, or choose another`;
  t.ok(failures.Lent.includes(expected), failures.Lent);
});
