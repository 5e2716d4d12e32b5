// The samples and changes that another store gets from the own file, and charts whose earlier part comes from that
// store.
import { deepStrictEqual } from 'node:assert/strict';
import { gunzipSync, inflateSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import { textOfPiece } from '../../../plugins/metrics-history/codec/gzip-pieces.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';

function open(): SqliteDatabase {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  return db;
}

/** The first second of an hour. */
const START = 1_795_356_000;

const sample = (at: number, cpu = 10) => ({
  timestamp: START + at,
  system: {
    cpu_percent: cpu,
    mem: { percent: 50.5 },
    filesystems: [{ path: '/data', percent: 20, inode: { percent: 3 } }],
    disk_io: { read_bytes: at * 7, write_bytes: 0 },
    net_io: { sent_bytes: at, recv_bytes: 0 },
    network_interfaces: [{ name: 'eth0', sent_bytes: at, recv_bytes: 0 }],
  },
  dumb_managed: [],
  external: [],
});

const write = (db: SqliteDatabase, times: readonly number[]) =>
  statements.write(
    db,
    times.map(at => JSON.stringify(sample(at, at % 90))),
  );

t.test('changes are given in order and once, whatever their times', async t => {
  const db = open();
  write(db, [5_000, 5_005]);
  const first = statements.mark(db);
  t.equal(first.seq, 2);
  t.same(statements.mark(db), first, 'the file keeps its id');
  write(db, [10, 5_005]);
  const changes = [...statements.changesAfter(db, { seq: first.seq, limit: 100 })];
  t.same(
    changes.map(({ sample: kept }) => kept?.timestamp),
    [START + 10, START + 5_005],
  );
  const [kept] = changes;
  const text = inflateSync(kept?.sample?.payload ?? Buffer.alloc(0));
  t.same(JSON.parse(text.toString()), sample(10, 10));
  t.equal(kept?.sample?.rawBytes, text.length);
  t.match(kept?.sample?.point, { cpu: 10, mem: 50.5, diskRead: 70 });
  t.equal([...statements.changesAfter(db, { seq: 0, limit: 2 })].length, 2, 'a batch');
  t.equal(statements.pendingAfter(db, first), 2);
  t.equal(statements.oldestAfter(db, first), START + 10);
  t.equal(statements.oldestAfter(db, statements.mark(db)), null);
  t.equal(statements.oldestAfter(db, { id: 'another file', seq: 1 }), undefined);
  t.same(statements.hoursSince(db, { timestamp: START }), [
    [START / 3_600, 1],
    [START / 3_600 + 1, 2],
  ]);
  t.same(statements.timesOfHour(db, { hour: START / 3_600 + 1 }), [START + 5_000, START + 5_005]);
  const found = [...statements.samplesAt(db, { timestamps: [START + 5_000, START + 1] })];
  t.same(
    found.map(one => one?.timestamp),
    [START + 5_000, undefined],
  );
  const rows = changes.flatMap(({ sample: one }) => one ?? []);
  const torn = { timestamp: START, payload: Buffer.from('torn') };
  const joined = statements.pieceOfPayloads(db, { rows: [torn, ...rows] });
  t.equal(statements.pieceOfPayloads(db, { rows: [torn] }), null);
  t.same(
    JSON.parse(`[${joined && textOfPiece(joined)}]`).map(({ timestamp }: { timestamp: number }) => timestamp),
    [START + 10, START + 5_005],
    'what is damaged is left out',
  );
});

t.test('samples from another store are taken, except removed ones', async t => {
  const [db, other] = [open(), open()];
  const times = Array.from({ length: 400 }, (_, index) => index * 400);
  write(other, times);
  write(
    db,
    times.filter((_, index) => index % 2 === 0),
  );
  const all = times.map(at => START + at);
  const lost = statements.unknownTimes(db, { timestamps: all });
  t.equal(lost.length, 200);
  const before = statements.mark(db);
  const rows = [...statements.samplesAt(other, { timestamps: lost })].flatMap(row => row ?? []);
  statements.restore(db, { samples: [...rows, { timestamp: START + 1, payload: Buffer.from('torn') }] });
  t.same(statements.mark(db), before, 'it is no change');
  t.same(statements.unknownTimes(db, { timestamps: all }), []);
  const told = () => [...statements.pieces(db, { from: 0 })].map(textOfPiece).join();
  t.same(
    JSON.parse(`[${told()}]`),
    JSON.parse(`[${[...statements.pieces(other, { from: 0 })].map(textOfPiece).join()}]`),
  );

  const { storedBytes } = statements.storage(db);
  const limits = { now: START + 400 * 400, maxAgeDays: null, maxBytes: storedBytes / 2 };
  while (statements.maintain(db, limits));
  t.ok(statements.storage(db).samples < 400);
  t.same(statements.unknownTimes(db, { timestamps: all }), [], 'what was removed for want of room was known');
  t.equal((JSON.parse(`[${told()}]`) as unknown[]).length, statements.storage(db).samples, 'each can still be read');
});

t.test('a chart is the same wherever its earlier part comes from', async () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 9_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(times, fc.integer({ min: -10, max: 9_100 }), fc.integer({ min: 5, max: 700 }), (given, cut, bucket) => {
      const db = open();
      write(db, given);
      const [from, until, maxPoints] = [START, START + 9_000, 5_000];
      const plain = statements.chart(db, { since: from, now: until, bucketSeconds: bucket, maxPoints });
      const before = START + cut;
      const earlier = new Map<number, number>();
      for (const time of given.map(at => START + at).sort((a, b) => a - b))
        if (time < before) earlier.set(Math.floor(time / bucket), time);
      // Other stores hold what charts need of newer samples.
      const rows = [...statements.samplesAt(db, { timestamps: [...earlier.values()] })].flatMap((row, index) => {
        if (row === undefined) return [];
        const isItem = index % 2 === 0;
        return [{ timestamp: row.timestamp, payload: isItem ? row.item : row.payload, isItem }];
      });
      // The other store has the extremes of a file that holds only the earlier part.
      const other = open();
      write(
        other,
        given.filter(at => START + at < before),
      );
      const part = JSON.parse(
        gunzipSync(statements.chart(other, { since: from, now: until, bucketSeconds: bucket, maxPoints })).toString(),
      );
      const { filesystems, network_interfaces, ...curves } = part.stats ?? {};
      const known = Object.fromEntries(Object.entries(curves).filter(([, range]) => range !== null));
      const ranges = part.stats === null ? null : { curves: known, filesystems, network_interfaces };
      const request = { from, until, bucketSeconds: bucket, maxPoints, before, rows, ranges, isWhole: true };
      const joined = statements.joinedChart(db, request);
      deepStrictEqual(JSON.parse(gunzipSync(joined ?? '').toString()), JSON.parse(gunzipSync(plain).toString()));
    }),
    { numRuns: 60 },
  );
});
