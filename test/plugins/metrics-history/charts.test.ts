// Charts of the history and their extremes, compared with a plain computation, whatever came late or was removed.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import { chart, contentOf, EMPTY, type Made, open, START, write } from '../../support/history-database.ts';

const CURVES = [
  'cpu',
  'mem',
  'disk',
  'inode',
  'disk_read_rate',
  'disk_write_rate',
  'net_sent_rate',
  'net_recv_rate',
] as const;

t.test('a chart has averages and extremes of its buckets', async t => {
  const db = open();
  t.same(chart(db), {
    items: [],
    timestamps: [],
    series: {
      ...Object.fromEntries(CURVES.map(curve => [curve, []])),
      filesystems: {},
      network_interfaces: {},
    },
    stats: null,
    truncated: false,
    bucket_seconds: null,
  });
  write(db, [{ at: 0 }, { at: 5, cpu: 90, sent: 105 }, { at: 10, cpu: null, sent: 205 }, { at: 15, sent: 10 }]);
  const fine = chart(db, { since: START, now: START + 15, bucketSeconds: 1 });
  t.same(
    fine.timestamps,
    [0, 5, 10, 15].map(at => START + at),
  );
  t.same(fine.series.cpu, [10, 90, null, 10]);
  t.same(fine.series.net_sent_rate, [null, 21, 20, null], 'the first has none, nor has a counter that went back');
  t.same(fine.series.disk_read_rate, [null, 42, 40, null]);
  t.same(fine.series.filesystems, { '/data': { disk: [20, 20, 20, 20], inode: [3, 3, 3, 3] } });
  t.same(fine.series.network_interfaces.eth0.sent_rate, [null, 21, 20, null]);
  t.same(fine.stats.cpu, { min: 10, max: 90 });
  t.equal(fine.stats.inode, null);
  t.same(fine.stats.net_sent_rate, { min: 20, max: 21 });
  t.same(fine.items[0], {
    timestamp: START,
    system: {
      cpu_percent: 10,
      cpu_count: 4,
      mem: { percent: 50.5 },
      disk: { percent: 20 },
      inode: { percent: null },
      filesystems: [
        { path: '/data', mount_point: null, fs_type: null, available: true, percent: 20, inode: { percent: 3 } },
      ],
      disk_io: { read_bytes: 0, write_bytes: 0 },
      net_io: { sent_bytes: 0, recv_bytes: 0 },
      network_interfaces: [
        {
          name: 'eth0',
          available: null,
          is_up: null,
          speed_mbps: 10,
          mtu: null,
          sent_bytes: 0,
          recv_bytes: 0,
          sent_packets: null,
          recv_packets: null,
          errors_in: null,
          errors_out: null,
          drops_in: null,
          drops_out: null,
        },
      ],
    },
    dumb_managed: [{ name: 'One', pid: 1, cpu_percent: 1.5, rss: 10, disk_io: null }],
    external: [],
    extra: { kept: true },
  });
  const coarse = chart(db, { since: START, now: START + 15, bucketSeconds: 10 });
  t.equal(coarse.bucket_seconds, 10);
  t.same(coarse.timestamps, [START + 5, START + 15], 'the last sample of each bucket');
  t.same(coarse.stats, fine.stats, 'extremes that no bucket shows');
});

/** Times within some hours, in any order, with gaps. */
const samples = fc.uniqueArray(
  fc.record({
    at: fc.integer({ min: 0, max: 20_000 }),
    cpu: fc.option(fc.integer({ min: 0, max: 1_000 }).map(tenths => tenths / 10)),
    sent: fc.integer({ min: 0, max: 1_000_000 }),
  }),
  { selector: ({ at }) => at, maxLength: 60 },
);

t.test('few samples in a long window are found with few reads', async t => {
  let looks = 0;
  const db = new Database(EMPTY, { verbose: () => (looks += 1) }) as unknown as SqliteDatabase;
  const week = 604_800;
  write(
    db,
    Array.from({ length: 169 }, (_, index) => ({ at: index * 3_600 })),
  );
  const now = START + week;
  for (const maxPoints of [1, 2, 7])
    for (const since of [week / 2, now / 2 + 100_000, START]) {
      looks = 0;
      const answer = chart(db, { since, now, maxPoints });
      t.ok(answer.items.length >= 1 && answer.items.length <= maxPoints);
      t.ok(looks < 3_000, `${looks} looks for ${maxPoints} since ${since}`);
    }
});

t.test('a chart has at most the wanted points, and loses no extreme', async () => {
  fc.assert(
    fc.property(
      samples,
      fc.integer({ min: 0, max: 20_000 }),
      fc.integer({ min: 1, max: 40 }),
      fc.option(fc.integer({ min: 1, max: 3_000 })),
      (made, since, maxPoints, bucketSeconds) => {
        const db = open();
        write(db, made);
        const now = START + 20_000;
        const answer = chart(db, { since: START + since, now, maxPoints, bucketSeconds });
        const inside = made.filter(({ at }) => at >= since).sort((a, b) => a.at - b.at);
        const bucket = answer.bucket_seconds;
        const last = new Map(inside.map(({ at }) => [Math.floor((START + at) / bucket), START + at]));
        deepStrictEqual(answer.timestamps, [...last.values()]);
        ok(answer.timestamps.length <= maxPoints);
        ok(bucket >= Math.max(bucketSeconds ?? 5, Math.ceil(Math.max(1, 20_000 - since) / maxPoints)));
        for (const curve of CURVES) strictEqual(answer.series[curve].length, answer.timestamps.length);
        deepStrictEqual(answer.stats?.net_sent_rate ?? null, extremes(rates(inside)));
        deepStrictEqual(answer.stats?.cpu ?? null, extremes(inside.map(({ cpu }) => cpu)));
      },
    ),
    { numRuns: 100 },
  );
});

t.test('extremes stay right when samples come late or again', async () => {
  fc.assert(
    fc.property(fc.array(samples, { minLength: 1, maxLength: 4 }), rounds => {
      const db = open();
      const all = new Map<number, Made>();
      for (const round of rounds) {
        write(db, round);
        for (const made of round) all.set(made.at, made);
        const sorted = [...all.values()].sort((a, b) => a.at - b.at);
        const { stats } = chart(db, { since: START, now: START + 20_000 });
        deepStrictEqual(stats?.net_sent_rate ?? null, extremes(rates(sorted)));
        deepStrictEqual(stats?.cpu ?? null, extremes(sorted.map(({ cpu }) => cpu)));
      }
    }),
    { numRuns: 30 },
  );
});

t.test('a cached chart is right after any writes and removals', async () => {
  const windows = fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 5, max: 400 }));
  const steps = fc.record({ made: samples, keptDays: fc.option(fc.integer({ min: 1, max: 20_000 })) });
  fc.assert(
    fc.property(fc.array(windows, { minLength: 1, maxLength: 3 }), fc.array(steps, { maxLength: 4 }), (asked, done) => {
      const known = open();
      for (const { made, keptDays } of done) {
        write(known, made);
        const limits = {
          now: START + 20_000,
          maxAgeDays: keptDays === null ? null : keptDays / 86_400,
          maxBytes: null,
        };
        while (statements.maintain(known, limits));
        const anew = open(contentOf(known));
        for (const [since, bucketSeconds] of asked) {
          const request = { since: START + since, now: START + 20_000, bucketSeconds, maxPoints: 5_000 };
          deepStrictEqual(chart(known, request), chart(anew, request));
          deepStrictEqual(chart(known, request), chart(anew, request));
        }
      }
    }),
    { numRuns: 25 },
  );
});

t.test('extremes of past hours are computed before a request', async t => {
  const db = open();
  const hours = () => db.prepare('SELECT count(*) FROM metrics_rollups WHERE span_ms = 3600000').pluck().get();
  const limits = { now: START + 40_000, maxAgeDays: null, maxBytes: null };
  write(
    db,
    Array.from({ length: 60 }, (_, index) => ({ at: index * 600, cpu: index })),
  );
  while (statements.maintain(db, limits));
  const kept = hours() as number;
  t.ok(kept >= 9);
  write(db, [{ at: 1_800, cpu: 99 }]);
  t.ok((hours() as number) < kept, 'those of a sample that came late are out of date');
  while (statements.maintain(db, limits));
  t.equal(hours(), kept);
  t.same(chart(db).stats.cpu, { min: 0, max: 99 });
});

function rates(sorted: readonly Made[]): (number | null)[] {
  return sorted.map(({ at, sent = 0 }, index) => {
    const before = sorted[index - 1];
    return before === undefined || sent < (before.sent ?? 0)
      ? null
      : ((sent - (before.sent ?? 0)) / ((at - before.at) * 1_000)) * 1_000;
  });
}

function extremes(values: readonly (number | null | undefined)[]): { min: number; max: number } | null {
  const known = values.filter(value => typeof value === 'number');
  return known.length === 0 ? null : { min: Math.min(...known), max: Math.max(...known) };
}
