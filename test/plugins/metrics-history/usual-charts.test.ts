// The charts that are requested most are cached after their first request, and never outdated.
import { deepStrictEqual } from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';

type File = SqliteDatabase & Database.Database;

/** Opens a copy of a database; the statements have nothing cached for it. */
function open(content?: Buffer): File {
  const db = new Database(content ?? ':memory:') as unknown as File;
  if (content === undefined)
    for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  return db;
}

const HOUR_S = 3_600;
/** The first second of a day. */
const START = 1_794_960_000;

function write(db: File, times: readonly number[], cpu = 10): void {
  const texts = times.map(at => {
    const system = {
      cpu_percent: cpu,
      filesystems: [{ path: '/data', percent: 20, inode: { percent: null } }],
      disk_io: { read_bytes: at * 7, write_bytes: null },
      net_io: { sent_bytes: at, recv_bytes: 0 },
      network_interfaces: [{ name: 'eth0', sent_bytes: at % 5_000, recv_bytes: 0 }],
    };
    return JSON.stringify({ timestamp: START + at, system, dumb_managed: [], external: [] });
  });
  statements.write(db, texts);
}

function maintain(db: File, maxAgeDays: number | null = null): void {
  const newest = statements.bounds(db).newest ?? START;
  while (statements.maintain(db, { now: newest, maxAgeDays, maxBytes: null }));
}

function chart(db: File, hours: number) {
  const newest = statements.bounds(db).newest ?? START;
  const request = { since: newest - hours * HOUR_S, now: newest + 0.5, bucketSeconds: 5, maxPoints: 600 };
  return JSON.parse(gunzipSync(statements.chart(db, request)).toString());
}

const kept = (db: File): number => db.prepare('SELECT count(*) FROM metrics_blocks').pluck().get() as number;

/** The same chart, computed from the samples alone. */
function plain(db: File, hours: number) {
  const copy = open(db.serialize());
  copy.exec('DELETE FROM metrics_blocks');
  return chart(copy, hours);
}

/** Each try continues where the last one ended, which is early on a slow machine. */
const TRIES = 100;

const every = (seconds: number, from: number, until: number): number[] =>
  Array.from({ length: Math.floor((until - from) / seconds) }, (_, index) => from + index * seconds);

t.test('a prepared chart reads nothing from the file', async t => {
  const db = open();
  statements.rehearseChart(db, { now: START });
  write(db, every(60, 0, 5 * HOUR_S));
  const now = (statements.bounds(db).newest ?? START) + HOUR_S / 2;
  for (let tried = 0; tried < TRIES; tried += 1) statements.rehearseChart(db, { now });
  const request = { since: now - 6 * HOUR_S, now: now + 0.001, bucketSeconds: null, maxPoints: 600 };
  db.exec(`DELETE FROM metrics_blocks; UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  const { items, bucket_seconds } = JSON.parse(gunzipSync(statements.chart(db, request)).toString());
  t.equal(items.length, 300);
  t.equal(bucket_seconds, 36);
});

t.test('samples of finished buckets need not be read for a cached chart', async t => {
  const db = open();
  write(db, every(60, 0, 30 * HOUR_S));
  maintain(db);
  for (const hours of [1, 6, 12, 24]) {
    const copy = open(db.serialize());
    const whole = chart(copy, hours);
    t.same(whole, plain(db, hours), `${hours} h`);
    const bare = open(db.serialize());
    bare.exec(`UPDATE metrics_snapshots SET payload = x'', item = NULL`);
    const buckets = 16;
    t.ok(chart(bare, hours).items.length > whole.items.length - buckets, 'but for those of the last times');
  }
});

t.test('a window with more samples than points is cached', async t => {
  const db = open();
  write(db, every(5, 0, 2 * HOUR_S));
  maintain(db);
  const whole = chart(db, 1);
  t.equal(whole.bucket_seconds, 7, 'one more second than fits an hour exactly');
  t.same(whole, plain(db, 1));
  db.exec(`UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  t.ok(chart(open(db.serialize()), 1).items.length > whole.items.length - 16);
});

t.test('a window whose samples fit exactly because of a gap is cached', async t => {
  const db = open();
  const pause = { from: 3 * HOUR_S, before: 3 * HOUR_S + 36 };
  write(
    db,
    every(5, 0, 7 * HOUR_S).filter(at => at < pause.from || at >= pause.before),
  );
  maintain(db);
  const whole = chart(db, 6);
  t.equal(whole.items.length, 600);
  t.equal(whole.bucket_seconds, 36);
  db.exec(`UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  t.ok(chart(open(db.serialize()), 6).items.length > whole.items.length - 16);
});

t.test('a window is cached wherever in a bucket it begins', async t => {
  const db = open();
  write(db, every(60, 0, 169 * HOUR_S));
  const sizes = new Set<number>();
  for (let later = 0; later < 1_010; later += 120) {
    write(db, [169 * HOUR_S + later]);
    maintain(db);
    const copy = open(db.serialize());
    copy.exec(`UPDATE metrics_snapshots SET payload = x'', item = NULL`);
    const { items, bucket_seconds } = chart(copy, 168);
    sizes.add(bucket_seconds);
    t.ok(items.length >= 600 - 16, `${bucket_seconds} s: ${items.length}`);
  }
  t.same([...sizes].sort(), [1_009, 1_010]);
});

t.test('a cached chart includes earlier samples that are imported later', async t => {
  const db = open();
  write(db, every(60, 150 * HOUR_S, 169 * HOUR_S));
  maintain(db);
  write(db, every(60, 0, 150 * HOUR_S));
  maintain(db);
  db.exec(`UPDATE metrics_snapshots SET payload = x'', item = NULL`);
  t.ok(chart(open(db.serialize()), 168).items.length >= 600 - 16);
});

t.test('a sample that ends a bucket computes its part of the cached charts', async t => {
  const db = open();
  write(db, every(5, 0, HOUR_S / 2));
  maintain(db);
  const before = kept(db);
  for (const at of every(5, HOUR_S / 2, HOUR_S / 2 + 300)) write(db, [at]);
  t.ok(kept(db) > before, 'without waiting for the next look at the file');
  t.same(chart(open(db.serialize()), 1), plain(db, 1));
});

t.test('parts of cached charts that are too old are removed', async t => {
  const db = open();
  write(db, every(60, 0, 24 * HOUR_S));
  maintain(db);
  write(db, every(300, 24 * HOUR_S, 300 * HOUR_S));
  maintain(db);
  const early = `SELECT count(*) FROM metrics_blocks WHERE bucket_s < 100 AND before_s <= ${START + 24 * HOUR_S}`;
  t.equal(db.prepare(early).pluck().get(), 0, 'parts of charts that begin later are removed');
  maintain(db, 1);
  t.same(chart(db, 24), plain(db, 24));
  t.same(chart(db, 168), plain(db, 168), 'what was removed is in no chart');
});

t.test('a damaged cached chart is computed again', async t => {
  const db = open();
  write(db, every(60, 0, 8 * HOUR_S));
  maintain(db);
  const whole = chart(db, 6);
  const copy = open(db.serialize());
  copy.exec(`UPDATE metrics_blocks SET piece = zeroblob(length(piece))`);
  t.same(chart(copy, 6), whole);
  const other = open(db.serialize());
  other.exec(`UPDATE metrics_blocks SET head = '{'`);
  t.same(chart(other, 6), whole);
});

const times = fc.uniqueArray(fc.integer({ min: 0, max: 20 * HOUR_S }), { minLength: 1, maxLength: 80 });

t.test('laws: a chart from the file equals one from the samples', async () => {
  fc.assert(
    fc.property(fc.array(times, { minLength: 1, maxLength: 4 }), rounds => {
      const db = open();
      for (const [cpu, round] of rounds.entries()) {
        write(db, round, cpu);
        maintain(db);
        for (const hours of [1, 6, 24]) {
          deepStrictEqual(chart(open(db.serialize()), hours), plain(db, hours));
          deepStrictEqual(chart(db, hours), plain(db, hours));
        }
      }
    }),
    { numRuns: 25 },
  );
});
