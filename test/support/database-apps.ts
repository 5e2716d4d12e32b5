// A host with stand-ins for Bazarr, Pulsarr and Seerr on SQLite, and a PostgreSQL server to which they can move.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import { startHost, type TestHost } from './host.ts';
import { freePort } from './host-config.ts';
import { postgresBlock } from './postgres.ts';
import { type Body, PASSWORD, PLUGINS, running } from './postgres-migration.ts';

const APP = fileURLToPath(new URL('./database-app.cjs', import.meta.url));
const NOBODY = 65_534;
const PACE = 0.1;

interface DatabaseApp {
  readonly processName: string;
  /** The directory of the application, with all its files. */
  readonly home: string;
  readonly file: string;
  readonly port: number;
  readonly block: Readonly<Record<string, unknown>>;
  /** Contents of the files of its program, by path in `home`. */
  readonly program: Readonly<Record<string, string>>;
  /** SQL that fills the tables which the stand-in has created. */
  readonly rows: string;
}

export interface DatabaseApps {
  /** The configuration directory of the host. */
  readonly configDir: string;
  readonly config: Record<string, unknown>;
  readonly plugins: readonly string[];
  /** Names of the processes. */
  readonly names: readonly string[];
  /** A fingerprint of the service's SQLite file. */
  source(processName: string): string;
  /** What the service answers about its data. */
  data(processName: string): Promise<Body>;
  /** Changes the service's SQLite file. */
  write(processName: string, sql: string): void;
}

const many = (sql: string): string =>
  `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) ${sql}`;
const AT = "'2024-01-02 03:04:05.' || printf('%03d', i)";

async function appsIn(dir: string): Promise<DatabaseApp[]> {
  const homeOf = (name: string): string => path.join(dir, name);
  const [bazarr, pulsarr, seerr] = [homeOf('bazarr'), homeOf('pulsarr'), homeOf('seerr')] as const;
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  return [
    {
      processName: 'Bazarr',
      home: bazarr,
      file: path.join(bazarr, 'data/db/bazarr.db'),
      port: ports[0],
      block: {
        command: [process.execPath, APP, 'bazarr', '--config', path.join(bazarr, 'data'), '--port', '{port}'],
        config_file: path.join(bazarr, 'data/config/config.yaml'),
      },
      program: {},
      rows: `INSERT INTO table_shows (title, tvdbId, monitored, updated_at) ${many(`SELECT 'Show "' || i || '"', i, 'True', ${AT} FROM n`)};
        INSERT INTO table_history ("showId", action, timestamp) ${many(`SELECT i, 1, ${AT} FROM n`)};
        UPDATE system SET configured = '1'`,
    },
    {
      processName: 'Pulsarr',
      home: pulsarr,
      file: path.join(pulsarr, 'data/db/pulsarr.db'),
      port: ports[1],
      block: {
        command: [path.join(pulsarr, 'bun'), 'run', '--bun', 'dist/server.js'],
        env: { listenPort: '{port}', dbPath: '{config_dir}/data/db/pulsarr.db' },
      },
      program: {
        bun: `#!/bin/sh\nexec '${process.execPath}' '${APP}' pulsarr "$@"\n`,
        'dist/server.js': '',
      },
      rows: `INSERT INTO users (name, can_sync, created_at) ${many(`SELECT 'User ' || i, i % 2, ${AT} FROM n`)};
        INSERT INTO watchlist_items (user_id, title, guids) ${many(`SELECT i, 'Title' || char(10) || i, '["imdb:' || i || '"]' FROM n`)}`,
    },
    {
      processName: 'Seerr 4K',
      home: seerr,
      file: path.join(seerr, 'kept/db/db.sqlite3'),
      port: ports[2],
      block: {
        command: [process.execPath, 'dist/index.js'],
        env: { PORT: '{port}', CONFIG_DIRECTORY: 'kept' },
      },
      program: { 'dist/index.js': `process.argv.splice(2, 0, 'seerr'); require(${JSON.stringify(APP)})\n` },
      rows: `INSERT INTO media ("mediaType", "tmdbId", "mediaAddedAt") ${many(`SELECT 'movie', i * 1000, ${AT} FROM n`)};
        INSERT INTO media_request ("mediaId", is4k, "createdAt") ${many(`SELECT i, i % 2, ${AT} FROM n`)};
        INSERT INTO user (email, permissions) VALUES ('a@b', 2)`,
    },
  ];
}

/** Sets up the applications, whose tables hold rows. */
export async function makeDatabaseApps(t: Test): Promise<DatabaseApps> {
  const server = await postgresBlock(t);
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  chmodSync(dir, 0o755);
  const configDir = path.join(dir, 'host');
  await mkdir(configDir);
  const apps = await appsIn(dir);
  const [bazarr, pulsarr, seerr] = apps.map(app => ({
    enabled: true,
    process_name: app.processName,
    port: app.port,
    config_dir: app.home,
    log_file: path.join(configDir, 'log', `${app.processName}.log`),
    ...app.block,
  }));
  await Promise.all(apps.map(install));
  const config = {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    postgres: { ...server, enabled: true, password: PASSWORD, databases: [{ name: 'postgres', enabled: true }] },
    bazarr,
    pulsarr,
    seerr: { instances: { '4K': seerr } },
  };
  const services = ['migration-bazarr', 'migration-pulsarr', 'migration-seerr', 'format-yaml'];
  const plugins = [...PLUGINS.filter(name => name !== 'migration-sonarr'), ...services];
  const of = (processName: string): DatabaseApp => {
    const found = apps.find(app => app.processName === processName);
    if (found === undefined) throw new Error(`there is no ${processName}`);
    return found;
  };
  return {
    configDir,
    config,
    plugins,
    names: apps.map(({ processName }) => processName),
    source: name =>
      createHash('sha256')
        .update(readFileSync(of(name).file))
        .digest('hex'),
    data: async name => (await fetch(`http://127.0.0.1:${of(name).port}/data`)).json(),
    write: (name, sql) => change(of(name).file, sql),
  };
}

/** Resolves when the server and all applications are healthy. */
export async function startDatabaseApps(
  t: Test,
  { configDir, config, plugins, names }: DatabaseApps,
): Promise<TestHost> {
  const host = await startHost({ plugins, configDir, config, pace: PACE });
  t.teardown(() => host.stop());
  await running(host, ['PostgreSQL', ...names]);
  return host;
}

/** Writes the program of an application, and lets it create its tables as at a first start. */
async function install({ processName, home, file, program, rows }: DatabaseApp): Promise<void> {
  for (const [name, text] of Object.entries(program)) {
    await mkdir(path.dirname(path.join(home, name)), { recursive: true });
    await writeFile(path.join(home, name), text, { mode: 0o755 });
  }
  await mkdir(home, { recursive: true });
  const name = processName.split(' ')[0]?.toLowerCase() ?? '';
  await promisify(execFile)(process.execPath, [APP, name, '--config', path.join(home, 'data'), '--tables'], {
    cwd: home,
    env: { dbPath: file, CONFIG_DIRECTORY: 'kept' },
  });
  change(file, rows);
  if (process.getuid?.() !== 0) return;
  for (const place of ['', ...(await readdir(home, { recursive: true }))])
    chownSync(path.join(home, place), NOBODY, NOBODY);
}

function change(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}
