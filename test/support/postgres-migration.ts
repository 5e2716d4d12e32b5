// A host with a service on SQLite, whose application is a stand-in, and a PostgreSQL server to which it can move.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Test } from 'tap';
import { pluginsDir, startHost, type TestHost } from './host.ts';
import { postgresBlock } from './postgres.ts';
import { freePort } from './stackwarden.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
export type Body = any;

export const NAME = 'Sonarr';
/** A password for the server, which asks for none. */
export const PASSWORD = 'sEcret-of-the-server';
/** The name of a second instance. */
export const OTHER = 'Sonarr 4K';
export const PREFIX = '/process/postgres-migration';
export const PLUGINS = [
  'config',
  'process',
  'auto-restart',
  'health-probe',
  'services',
  'setup',
  'config-files',
  'format-xml',
  'service-postgres',
  'host-plugins',
  'postgres-migration',
  'migration-sonarr',
];
const APP = fileURLToPath(new URL('./servarr-app.cjs', import.meta.url));
const NOBODY = 65_534;
const SERIES = 300;
/** Shorter than in other tests, because observations of services make up most of a migration's time. */
const PACE = 0.1;

export interface Stack {
  /** The directory of the service. */
  readonly home: string;
  /** The configuration directory of the host. */
  readonly configDir: string;
  readonly config: Record<string, unknown>;
  readonly port: number;
  readonly serverPort: number;
  /** A fingerprint of the files that must not change. */
  source(): string;
  query(sql: string, database?: string): Promise<Body[]>;
  /** The tables of the service that are transferred, in the order of the transfer. Each table holds rows. */
  tables(): string[];
  /** Changes the database of the service, which must be stopped. */
  write(sql: string): void;
  /** What the service answers about its data; undefined while it does not answer. */
  data(): Promise<{ engine: string; series: number; digest: string } | undefined>;
}

export interface StackOptions {
  /** A habit of the application in which it differs from the usual one. */
  readonly habit?: string;
  /** Whether there is a second instance, `OTHER`, with the same data. */
  readonly isTwo?: boolean;
}

/** Sets up the service with its tables in SQLite, which hold rows of every kind. */
export async function makeStack(t: Test, { habit = '', isTwo = false }: StackOptions = {}): Promise<Stack> {
  const server = await postgresBlock(t);
  // The directory of the test belongs to the server.
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const home = path.join(dir, 'home');
  const configDir = path.join(dir, 'host');
  for (const place of [home, configDir]) await mkdir(place);
  chmodSync(dir, 0o755);
  const port = await freePort();
  const file = path.join(home, 'config.xml');
  await writeFile(
    file,
    `<Config>\n  <!-- kept -->\n  <Port>${port}</Port>\n  <BindAddress>*</BindAddress>\n  <ApiKey>0123456789abcdef</ApiKey>\n  <LogDbEnabled>True</LogDbEnabled>\n</Config>\n`,
  );
  await fill(home);
  const [otherHome, otherPort] = [path.join(dir, 'other'), await freePort()];
  if (isTwo) {
    await cp(home, otherHome, { recursive: true });
    const settings = readFileSync(file, 'utf8').replace(String(port), String(otherPort));
    await writeFile(path.join(otherHome, 'config.xml'), settings);
  }
  for (const directory of process.getuid?.() === 0 ? [home, ...(isTwo ? [otherHome] : [])] : [])
    for (const place of [directory, ...(await readdir(directory)).map(name => path.join(directory, name))])
      chownSync(place, NOBODY, NOBODY);
  const instance = (processName: string, place: string, at: number) => ({
    enabled: true,
    process_name: processName,
    port: at,
    config_dir: place,
    config_file: path.join(place, 'config.xml'),
    log_file: path.join(configDir, 'log', `${processName}.log`),
    command: [process.execPath, APP, 'sonarr', '--nobrowser', `--data=${place}`],
    env: { SERVARR_HABIT: habit },
    stop_grace_seconds: 10,
  });
  const config = {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    postgres: { ...server, enabled: true, password: PASSWORD, databases: [{ name: 'postgres', enabled: true }] },
    sonarr: {
      instances: {
        Default: instance(NAME, home, port),
        ...(isTwo ? { '4K': instance(OTHER, otherHome, otherPort) } : {}),
      },
    },
  };
  const connect = async (database: string): Promise<pg.Client> => {
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'keeper', database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  /**
   * Kept open, because the server starts a process for each session. Sessions in other databases are not kept: a
   * database with sessions cannot be dropped.
   */
  let session: Promise<pg.Client> | undefined;
  const openSession = (): Promise<pg.Client> => {
    const letGo = (): void => {
      if (session === opened) session = undefined;
    };
    const opened = connect('postgres').then(
      client => client.once('end', letGo),
      error => {
        letGo();
        throw error;
      },
    );
    return opened;
  };
  const query = async (text: string, database?: string): Promise<Body[]> => {
    if (database === undefined) {
      session ??= openSession();
      return (await (await session).query(text)).rows;
    }
    const client = await connect(database);
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  t.teardown(async () => (await session?.catch(() => undefined))?.end());
  return {
    home,
    configDir,
    config,
    port,
    serverPort: server.port,
    source: () =>
      createHash('sha256')
        .update(readFileSync(path.join(home, 'sonarr.db')))
        .digest('hex'),
    query,
    tables: () => {
      const db = new Database(path.join(home, 'sonarr.db'), { readonly: true });
      try {
        return tablesOf(db);
      } finally {
        db.close();
      }
    },
    write: text => {
      const db = new Database(path.join(home, 'sonarr.db'));
      db.exec(text);
      db.close();
    },
    data: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/data`).catch(() => undefined);
      return answer?.ok === true ? ((await answer.json()) as Awaited<ReturnType<Stack['data']>>) : undefined;
    },
  };
}

function tablesOf(db: Database.Database): string[] {
  const select = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'VersionInfo'
    ORDER BY name`;
  return db.prepare(select).pluck().all() as string[];
}

/** Lets the application create its tables, and fills them. */
async function fill(home: string): Promise<void> {
  const settings = readFileSync(path.join(home, 'config.xml'), 'utf8');
  const child = spawn(process.execPath, [APP, 'sonarr', `--data=${home}`], { stdio: 'inherit' });
  const [, port = ''] = /<Port>(\d+)</.exec(settings) ?? [];
  await until(async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok, { what: 'the application to answer' });
  const ended = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  const db = new Database(path.join(home, 'sonarr.db'));
  const series = db.prepare(
    'INSERT INTO "Series" ("Title", "TvdbId", "Monitored", "Added", "Images", "SizeOnDisk") VALUES (?, ?, ?, ?, ?, ?)',
  );
  const episode = db.prepare(
    'INSERT INTO "Episodes" ("SeriesId", "Title", "AirDateUtc", "HasFile", "Ratings") VALUES (?, ?, ?, ?, ?)',
  );
  const written = db.prepare(
    'INSERT INTO "EpisodeFiles" ("SeriesId", "RelativePath", "Size", "Hash") VALUES (?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let id = 1; id <= SERIES; id += 1) {
      const at = `2024-01-02 03:04:05.${String(id).padStart(7, '0')}Z`;
      series.run(`Serie ${id} – "ä"\t\\`, 70_000 + id, id % 2, at, `{"id": ${id}}`, 2 ** 40 + id);
      episode.run(id, `Episode\n${id}`, at, (id + 1) % 2, id / 7);
      written.run(id, `Season 1/${id}.mkv`, 2 ** 33 + id, Buffer.from([0, id % 256, 255]));
    }
    db.prepare('UPDATE "QualityProfiles" SET "Items" = ? WHERE "Name" = ?').run('[1, 2]', 'Any');
    for (const table of tablesOf(db))
      if (db.prepare(`SELECT 1 FROM "${table}"`).get() === undefined) db.exec(`INSERT INTO "${table}" DEFAULT VALUES`);
  })();
  db.close();
}

/** A third party's plugin whose route gives the events of migrations. */
const LISTENER = `export default { name: 'listener', host: '^1', setup (host) {
  const events = [];
  for (const type of ['migration.succeeded', 'migration.failed']) host.on(type, ({ data }) => { events.push({ type, ...data }) });
  host.route({ method: 'GET', path: '/events', summary: 'Events', handle: () => events });
} }`;

/** The events of one migration, once there is one. */
export const toldOf = (app: TestHost, jobId: string): Promise<Body[]> =>
  until(
    async () => {
      const { body } = await app.get('/events');
      const own = body.filter((event: Body) => event.jobId === jobId);
      return own.length > 0 && own;
    },
    { what: 'the event of a migration' },
  );

/** Resolves when the named processes are healthy. */
export async function startStack(t: Test, { configDir, config }: Stack, names?: readonly string[]): Promise<TestHost> {
  const own = path.join(path.dirname(configDir), 'plugins');
  await mkdir(path.join(own, 'listener'), { recursive: true });
  await writeFile(path.join(own, 'listener/index.js'), LISTENER);
  const plugins = [...PLUGINS, 'listener'];
  const app = await startHost({ plugins, pluginDirs: [pluginsDir, own], configDir, config, pace: PACE });
  t.teardown(() => app.stop());
  await running(app, names);
  return app;
}

/** Resolves when the named processes are healthy. */
export async function running(app: TestHost, names: readonly string[] = ['PostgreSQL', NAME]): Promise<void> {
  for (const name of names)
    await until(
      async () =>
        (await app.get(`/process/service-status?process_name=${name}&include_health=true`)).body.healthy === true,
      { what: `${name} to be healthy`, intervalMs: 100 },
    );
}

export const preflight = async (app: TestHost, name = NAME): Promise<Body> =>
  (await app.get(`${PREFIX}/preflight?process_name=${encodeURIComponent(name)}`)).body;

/** What a job of that mode is about. */
export const identityOf = <Mode extends 'rehearsal' | 'cutover'>(mode: Mode) => ({
  process_name: NAME,
  service_key: 'sonarr',
  instance_name: 'Default',
  mode,
  include_logs: false,
  preflight: {},
  binding: {},
  was_running: true,
});

export const request = (mode: string, more: Record<string, unknown> = {}) => ({
  process_name: NAME,
  mode,
  confirmation: `MIGRATE ${NAME}`,
  acknowledge_unsupported: true,
  acknowledge_backup: true,
  acknowledge_target_reset: true,
  ...more,
});

/** Starts a migration and gives the id of its job. */
export async function begin(app: TestHost, mode: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body, text } = await app.post(`${PREFIX}/start`, request(mode, more));
  if (status !== 200) throw new Error(text);
  return body.job_id;
}

export const ACTIVE = ['queued', 'running', 'finalizing', 'rolling_back'];

/** The status of the job once it has ended. */
export async function ended(app: TestHost, jobId: string): Promise<Body> {
  return until(
    async () => {
      const { body } = await app.get(`${PREFIX}/status?job_id=${jobId}`);
      return !ACTIVE.includes(body.status) && body;
    },
    { what: 'the end of the migration', timeoutMs: 240_000, intervalMs: 200 },
  );
}
