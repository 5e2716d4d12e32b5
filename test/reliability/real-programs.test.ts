// Real programs under supervision: PostgreSQL from its own binaries, and a web server.
import { chmod } from 'node:fs/promises';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { lives, pidOf, restart, start, status, stop } from '../support/kids.ts';
import { postgresBlock } from '../support/postgres.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

t.test('PostgreSQL: initdb, start, stop by SIGINT, restart', async t => {
  const app = await startHost({ plugins: 'offline', config: { postgres: await postgresBlock(t) } });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'PostgreSQL')).status, 200);
  const first = await pidOf(app, 'PostgreSQL');
  await until(async () => (await status(app, 'PostgreSQL')).health_status === 'healthy').catch(
    async (error: unknown) => {
      throw new Error(JSON.stringify(await status(app, 'PostgreSQL')), { cause: error });
    },
  );
  t.equal((await restart(app, 'PostgreSQL')).status, 200);
  const second = await pidOf(app, 'PostgreSQL');
  t.not(second, first);
  await until(async () => (await status(app, 'PostgreSQL')).health_status === 'healthy', {
    what: 'the end of its start',
  });
  t.match((await stop(app, 'PostgreSQL')).body, { status: 'Service stopped successfully' });
  t.notOk(lives(second));
  // It ends with 1 when it is stopped before its start has ended, which its port does not tell.
  const { exit_code: code } = (await status(app, 'PostgreSQL')).restart as { exit_code: number | null };
  t.ok(code === 0 || code === 1, `an end of its own, not a kill: ${code}`);
});

t.test('a web server: ports and health', async t => {
  const directory = testDir(t, { 'index.html': 'hello' });
  await chmod(directory, 0o755);
  const app = await startHost({
    plugins: 'offline',
    config: {
      web: {
        enabled: true,
        process_name: 'Web',
        command: 'python3 -m http.server {port} --bind 127.0.0.1',
        config_dir: directory,
        port: await freePort(),
        health: { path: '/index.html' },
      },
      worker: {
        enabled: true,
        process_name: 'Worker',
        command: 'sleep 600',
        wait_for_tcp: { port: 1, name: 'placeholder' },
        wait_timeout_seconds: 0,
      },
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Web')).health_status === 'healthy');
  const { port } = (await app.get('/config?process_name=Web')).body;
  t.equal(await (await fetch(`http://127.0.0.1:${port}/index.html`)).text(), 'hello');
  t.match((await app.get('/process/startup-status')).body.expected_services, ['Web', 'Worker']);
});
