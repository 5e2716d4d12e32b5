// Starts a host whose history of metrics is to move to PostgreSQL, and reads both of its stores.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Test } from 'tap';
import { startHost, type TestHost } from './host.ts';
import { postgresBlock } from './postgres.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
export type Body = any;

export const ACTIVATION = '/metrics/history/storage/activate-postgresql';
/** The section `metrics` of a host that is to use PostgreSQL. */
export const CHOSEN = { storage: { provider: 'postgresql' } };

export type Block = Awaited<ReturnType<typeof postgresBlock>>;

export interface StartOptions {
  readonly postgres?: Record<string, unknown>;
  readonly metrics?: Record<string, unknown>;
  readonly plugins?: readonly string[];
  readonly configDir?: string;
  readonly pace?: number;
}

/** Without `metrics`, no samples are taken and SQLite is chosen. */
export async function startMetrics(t: Test, { postgres, metrics, plugins, configDir, pace }: StartOptions = {}) {
  const app = await startHost({
    plugins: plugins ?? ['metrics-postgres', 'config', 'services', 'setup', 'health-probe'],
    ...(configDir === undefined ? {} : { configDir }),
    ...(pace === undefined ? {} : { pace }),
    config: {
      dumb: { metrics: { history_enabled: false, ...metrics } },
      ...(postgres === undefined ? {} : { postgres }),
    },
  });
  t.teardown(() => app.stop());
  return app;
}

export const storage = async (app: TestHost, probe = false): Promise<Body> =>
  (await app.get(`/metrics/history/storage?probe_postgresql=${probe}`)).body;

export const choose = (app: TestHost, provider = 'postgresql') =>
  app.post('/config', { updates: { dumb: { metrics: { storage: { provider } } } } });

export const isActive = (app: TestHost) =>
  until(async () => (await storage(app)).active_provider === 'postgresql', { what: 'PostgreSQL to be read from' });

/** Runs a query as the owner of the server. */
export async function query(block: Record<string, unknown>, sql: string, database = 'dumb_metrics'): Promise<Body[]> {
  const client = new pg.Client({ host: '127.0.0.1', port: Number(block.port), user: 'keeper', database });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The times of all samples in each store. */
export async function timesIn(app: TestHost, block: Record<string, unknown>) {
  const file = new Database((await storage(app)).sqlite.path, { readonly: true });
  const own = file.prepare('SELECT timestamp FROM metrics_snapshots ORDER BY timestamp').pluck().all() as number[];
  file.close();
  const there = await query(block, 'SELECT timestamp FROM metrics_snapshots ORDER BY timestamp');
  return { own, there: there.map(({ timestamp }) => timestamp as number) };
}

/** A configuration directory with a history file of an earlier program. */
export async function directoryWith(t: Test, lines: readonly string[]): Promise<string> {
  const configDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  t.teardown(() => rm(configDir, { recursive: true, force: true }));
  await mkdir(path.join(configDir, 'metrics'), { mode: 0o700 });
  await writeLines(configDir, 'metrics-20260101-1.jsonl', lines);
  return configDir;
}

export const writeLines = (configDir: string, name: string, lines: readonly string[]) =>
  writeFile(path.join(configDir, 'metrics', name), `${lines.join('\n')}\n`);

/** A line of such a history file. */
export const line = (timestamp: number, cpu = 5): string =>
  JSON.stringify({
    timestamp,
    system: {
      cpu_percent: cpu,
      mem: { percent: 50.5 },
      disk: { percent: 20 },
      filesystems: [{ path: '/data', percent: 20, inode: { percent: 3 } }],
      disk_io: { read_bytes: Math.floor(timestamp) * 10, write_bytes: 5 },
      net_io: { sent_bytes: Math.floor(timestamp) * 20, recv_bytes: 5 },
      network_interfaces: [{ name: 'eth0', sent_bytes: Math.floor(timestamp) * 20, recv_bytes: 5 }],
    },
    dumb_managed: [{ name: 'One', pid: 1, cpu_percent: cpu, rss: 10, disk_io: null }],
    external: [],
  });

/** Unix seconds. */
export const YESTERDAY = Math.floor(Date.now() / 1_000) - 86_400;

/** A host whose history, two hundred samples of yesterday, has moved to PostgreSQL. */
export async function activated(t: Test, metrics: Record<string, unknown>): Promise<{ app: TestHost; block: Block }> {
  const block = await postgresBlock(t);
  const configDir = await directoryWith(
    t,
    Array.from({ length: 200 }, (_, index) => line(YESTERDAY + index * 60)),
  );
  const app = await startMetrics(t, { postgres: block, configDir, metrics: { ...metrics, ...CHOSEN } });
  const { status, text } = await app.post(ACTIVATION);
  t.equal(status, 200, text);
  return { app, block };
}

/** Asserts that both stores hold the same samples in the same order, and each sample once. */
export async function agree(t: Test, app: TestHost, block: Block): Promise<void> {
  await until(async () => {
    const times = await timesIn(app, block);
    return times.own.length === times.there.length;
  });
  const { own, there } = await timesIn(app, block);
  t.same(there, own);
  const { items } = (await app.get('/metrics/history?full=true&limit=0')).body;
  const told = items.map(({ timestamp }: { timestamp: number }) => timestamp);
  t.same(
    told,
    [...new Set<number>(told)].sort((a, b) => a - b),
    'in order, and none twice',
  );
  t.same(told.slice(0, own.length), own, 'all of them are told');
  const { postgresql } = await storage(app);
  const [counted] = await query(
    block,
    'SELECT count(*)::int AS samples, sum(raw_size)::float8 AS raw_bytes FROM metrics_snapshots',
  );
  t.match(postgresql, counted, 'the totals are right');
}
