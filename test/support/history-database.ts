// Databases of the metrics history in memory, samples for them, and queries.
import { deflateSync, gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import t from 'tap';
import type { SqliteDatabase } from '../../core/contract/database.ts';
import * as statements from '../../plugins/metrics-history/history-statements.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
export type Body = any;

function migrated(): Database.Database {
  const db = new Database(':memory:');
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  return db;
}

export const EMPTY = migrated().serialize();

/** Opens a copy of a database. The statements have nothing cached for it. */
export function open(content = EMPTY): SqliteDatabase {
  return new Database(content) as unknown as SqliteDatabase;
}

/** The tables of an earlier program. */
export const EARLIER_TABLES = `
  CREATE TABLE metrics_snapshots (timestamp REAL PRIMARY KEY, payload BLOB NOT NULL, raw_size INTEGER NOT NULL, stored_size INTEGER NOT NULL, created_at REAL NOT NULL);
  CREATE TABLE metrics_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);`;

/** Makes a file of an earlier program with samples of the last hour, whose processor load is from 0 to 99 percent. */
export function makeEarlierFile(file: string): void {
  const db = new Database(file);
  db.exec(EARLIER_TABLES);
  const insert = db.prepare('INSERT INTO metrics_snapshots VALUES (?, ?, ?, ?, 0)');
  const newest = Math.floor(Date.now() / 1_000) - START;
  for (let cpu = 0; cpu < 100; cpu += 1) {
    const made = sample({ at: newest - 5 * cpu, cpu });
    const text = JSON.stringify(made);
    const payload = deflateSync(text);
    insert.run(made.timestamp, payload, text.length, payload.length);
  }
  db.close();
}

export function contentOf(db: SqliteDatabase): Buffer {
  return (db as unknown as Database.Database).serialize();
}

/** A time at the first second of a minute. */
export const START = 1_795_000_020;

export interface Made {
  readonly at: number;
  readonly cpu?: number | null;
  readonly sent?: number;
}

export const sample = ({ at, cpu = 10, sent = at }: Made) => ({
  timestamp: START + at,
  system: {
    cpu_percent: cpu,
    cpu_count: 4,
    mem: { percent: 50.5, total: 7 },
    disk: { percent: 20 },
    inode: { percent: null },
    filesystems: [{ path: '/data', percent: 20, available: true, inode: { percent: 3 } }],
    disk_io: { read_bytes: sent * 2, write_bytes: 0 },
    net_io: { sent_bytes: sent, recv_bytes: 0 },
    network_interfaces: [{ name: 'eth0', sent_bytes: sent, recv_bytes: 0, speed_mbps: 10 }],
  },
  dumb_managed: [{ name: 'One', pid: 1, cpu_percent: 1.5, rss: 10, vms: 20, threads: 3, disk_io: null }],
  external: [],
  extra: { kept: true },
});

export const deepSample = (at: number) =>
  JSON.stringify(sample({ at })).replace('true', `${'['.repeat(101)}${']'.repeat(101)}`);

export const write = (db: SqliteDatabase, samples: readonly Made[]) =>
  statements.write(
    db,
    samples.map(made => JSON.stringify(sample(made))),
  );

export function chart(db: SqliteDatabase, request: Partial<Parameters<typeof statements.chart>[1]> = {}): Body {
  const whole = { since: null, now: START + 1_000_000, bucketSeconds: null, maxPoints: 600, ...request };
  return JSON.parse(gunzipSync(statements.chart(db, whole)).toString());
}

/** Asserts that the stored totals agree with the rows. */
export function audit(db: SqliteDatabase): void {
  const { n, raw, stored } = db
    .prepare(
      'SELECT count(*) n, coalesce(sum(raw_size), 0) raw, coalesce(sum(stored_size), 0) stored FROM metrics_snapshots',
    )
    .get() as { n: number; raw: number; stored: number };
  const kept = db
    .prepare('SELECT coalesce(sum(length(payload) + coalesce(length(item), 0)), 0) FROM metrics_snapshots')
    .pluck()
    .get();
  t.match(statements.storage(db), { samples: n, rawBytes: raw, storedBytes: stored });
  t.equal(kept, stored);
}
