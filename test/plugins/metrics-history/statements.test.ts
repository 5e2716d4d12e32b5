// The database of the history: charts, extremes, what is removed, and its books, against a plain reckoning.

import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { deflateSync, gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import { compactItem } from '../../../plugins/metrics-history/compact-item.ts';
import { textOfPiece } from '../../../plugins/metrics-history/gzip-pieces.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

function migrated(): Database.Database {
  const db = new Database(':memory:');
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  return db;
}

const EMPTY = migrated().serialize();

/** A copy of a database, of which nothing is remembered. */
function open(content = EMPTY): SqliteDatabase {
  return new Database(content) as unknown as SqliteDatabase;
}

function contentOf(db: SqliteDatabase): Buffer {
  return (db as unknown as Database.Database).serialize();
}

/** The first second of a minute. */
const START = 1_795_000_020;

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

interface Made {
  readonly at: number;
  readonly cpu?: number | null;
  readonly sent?: number;
}

const sample = ({ at, cpu = 10, sent = at }: Made) => ({
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

const deepSample = (at: number) =>
  JSON.stringify(sample({ at })).replace('true', `${'['.repeat(101)}${']'.repeat(101)}`);

const write = (db: SqliteDatabase, samples: readonly Made[]) =>
  statements.write(
    db,
    samples.map(made => JSON.stringify(sample(made))),
  );

function chart(db: SqliteDatabase, request: Partial<Parameters<typeof statements.chart>[1]> = {}): Body {
  const whole = { since: null, now: START + 1_000_000, bucketSeconds: null, maxPoints: 600, ...request };
  return JSON.parse(gunzipSync(statements.chart(db, whole)).toString());
}

t.test('a chart', async t => {
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

/** Times over some hours, in any order, with gaps. */
const samples = fc.uniqueArray(
  fc.record({
    at: fc.integer({ min: 0, max: 20_000 }),
    cpu: fc.option(fc.integer({ min: 0, max: 1_000 }).map(tenths => tenths / 10)),
    sent: fc.integer({ min: 0, max: 1_000_000 }),
  }),
  { selector: ({ at }) => at, maxLength: 60 },
);

t.test('few entries for a long time are found with few looks', async t => {
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

t.test('laws of a chart', async () => {
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

t.test('extremes stay right while samples come late, and come again', async () => {
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

t.test('a chart is the same when it is asked for again, whatever was written and removed meanwhile', async () => {
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

t.test('extremes of hours that are over are made before anybody asks for them', async t => {
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

/** The books against what is really there. */
function audit(db: SqliteDatabase): void {
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

t.test('what is removed', async t => {
  const db = open();
  const day = 86_400;
  const made = Array.from({ length: 3_000 }, (_, index) => ({ at: index * 60 - 20 + (index % 2) * 30 }));
  write(db, made);
  audit(db);
  const now = START + 3_000 * 60;
  const run = (limits: Partial<Parameters<typeof statements.maintain>[1]>) => {
    while (statements.maintain(db, { now, maxAgeDays: null, maxBytes: null, ...limits }));
    audit(db);
    return statements.storage(db);
  };
  t.equal(run({}).samples, 3_000, 'without limits nothing is');
  t.equal(run({ maxBytes: 1e9 }).samples, 3_000);
  const aged = run({ maxAgeDays: 2 });
  t.ok((aged.oldest ?? 0) >= now - 2 * day && aged.samples > 2_800, 'what is too old');

  const { storedBytes } = aged;
  const pointsBefore = db.prepare('SELECT count(*) FROM metrics_points').pluck().get();
  const thinned = run({ maxAgeDays: 2, maxBytes: storedBytes * 2 });
  t.ok(thinned.thinnedSamples > 0 && thinned.samples === aged.samples - thinned.thinnedSamples);
  const minutes = db
    .prepare('SELECT cast(timestamp / 60 AS INTEGER) FROM metrics_snapshots ORDER BY timestamp LIMIT 400')
    .pluck()
    .all();
  t.equal(new Set(minutes).size, 400, 'the oldest are thinned out to one a minute');
  t.equal(db.prepare('SELECT count(*) FROM metrics_points').pluck().get(), pointsBefore, 'their numbers stay');
  const least = run({ maxBytes: 20_000 });
  t.ok(least.storedBytes <= 20_000 && least.samples > 0, 'then the oldest go');
  t.same(chart(db, { since: null }).items.length > 0, true);
});

t.test('dictionaries take little room, and go with the samples that need them', async t => {
  const db = open();
  const random = (seed: number) => createHash('sha256').update(String(seed)).digest('hex');
  const services = Array.from({ length: 60 }, (_, index) => ({ name: random(index), pid: index }));
  const texts = Array.from({ length: 900 }, (_, index) => {
    // Each time a new dictionary has just seen its first samples, two come that are unlike them.
    const isCalm = index % 23 < 21;
    const noise = Array.from({ length: isCalm ? 0 : 120 }, (_, part) => random(index * 1_000 + part));
    return JSON.stringify({ ...sample({ at: index * 60 }), dumb_managed: services, noise });
  });
  statements.write(db, texts);
  const bytes = () =>
    db.prepare('SELECT sum(length(item) + length(whole)) FROM metrics_dictionaries').pluck().get() as number;
  t.ok(bytes() < statements.storage(db).storedBytes / 3, 'a new one is made only where it saves more than it takes');

  const other = Array.from({ length: 1_500 }, (_, index) =>
    JSON.stringify({
      ...sample({ at: 100_000 + index * 60 }),
      noise: random(index)
        .repeat(3)
        .slice(index % 64),
    }),
  );
  statements.write(db, other);
  const before = bytes();
  const limits = { now: START + 100_000 + 86_400, maxAgeDays: 1, maxBytes: null };
  while (statements.maintain(db, limits));
  t.ok(bytes() < before, 'those of removed samples are removed');
  const left = [...statements.pieces(db, { from: 0 })].map(textOfPiece).join();
  t.equal((JSON.parse(`[${left}]`) as Body[]).length, statements.storage(db).samples, 'and every sample can be read');
});

t.test('names of interfaces go with the last sample that has them', async t => {
  const db = open();
  const hour = 3_600;
  const named = (at: number, name: string) => {
    const { system, ...others } = sample({ at });
    const network_interfaces = [...system.network_interfaces, { name, sent_bytes: at, recv_bytes: 0 }];
    return JSON.stringify({ ...others, system: { ...system, network_interfaces } });
  };
  const keep = (now: number) => {
    while (statements.maintain(db, { now: START + now, maxAgeDays: 10 / 24, maxBytes: null }));
    return db.prepare('SELECT count(*) FROM metrics_names').pluck().get() as number;
  };
  const told = () => Object.keys(chart(db, { bucketSeconds: hour }).series.network_interfaces).sort();
  for (let at = 0; at < 200; at += 1) statements.write(db, [named(at * hour, `veth${at}`)]);
  t.equal(keep(0), 202, 'each, the path and the one that stays');
  t.ok(keep(200 * hour) <= 13, 'only those that may be asked for');
  t.same(
    told(),
    ['eth0', ...Array.from({ length: 10 }, (_, index) => `veth${190 + index}`)],
    'and each of these is told',
  );
  statements.write(db, [named(200 * hour, 'veth0'), named(199 * hour + 1, 'veth1')]);
  keep(204 * hour);
  t.same(told(), ['eth0', 'veth0', 'veth1', ...[4, 5, 6, 7, 8].map(index => `veth${190 + index}`)], 'also anew');
});

t.test('what comes after a clock was set back is thinned out too', async t => {
  const db = open();
  const day = 86_400;
  const thin = (now: number) => {
    const maxBytes = statements.storage(db).storedBytes * 2;
    while (statements.maintain(db, { now: START + now, maxAgeDays: null, maxBytes }));
  };
  write(db, [{ at: 0 }]);
  thin(30 * day);
  write(
    db,
    Array.from({ length: 120 }, (_, index) => ({ at: 600 + index * 5 })),
  );
  thin(2 * day);
  const { samples: count, thinnedSamples } = statements.storage(db);
  t.same([count, thinnedSamples], [11, 110], 'one a minute');
  audit(db);
});

t.test('texts are what was written', async t => {
  const db = open();
  write(
    db,
    Array.from({ length: 300 }, (_, index) => ({ at: index * 5, cpu: index % 100 })),
  );
  const { from, truncated } = statements.windowOf(db, { since: null, limit: 100 });
  t.equal(from, START + 200 * 5);
  t.equal(truncated, true);
  t.same(
    statements.windowOf(db, { since: null, limit: 300 }),
    { samples: 300, from: START, truncated: false },
    'exactly the limit',
  );
  const text = [...statements.pieces(db, { from: START + 200 * 5 })].map(textOfPiece).join();
  const items = JSON.parse(`[${text}]`) as Body[];
  t.equal(items.length, 100);
  t.same(items[0], sample({ at: 1_000, cpu: 0 }));
  const [item] = [...statements.items(db, { from: START, until: START + 5 })];
  t.equal(JSON.parse(item ?? '').dumb_managed[0].name, 'One');
});

/** Processes come, go and change places; names hold what JSON has to escape; and numbers are of any kind. */
const anyNumber = fc.oneof(
  fc.integer({ min: -20, max: 2_000 }),
  fc.integer({ min: 0, max: 300 }).map(tenths => tenths / 10),
  fc.integer({ min: 0, max: 1_000_000 }).map(pages => pages * 4_096),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anyProcess = fc.record(
  {
    name: fc.constantFrom('One', 'Two 2', 'a "quoted\\" -7', 'ü\n1.5', 'node', 'node'),
    pid: fc.nat(),
    cpu_percent: fc.option(anyNumber),
    rss: anyNumber,
    disk_io: fc.option(fc.record({ write_bytes: anyNumber, read_bytes: anyNumber })),
    ports: fc.array(fc.nat()),
  },
  { requiredKeys: ['name', 'pid', 'rss'] },
);
const anySamples = fc.array(
  fc.record(
    {
      cpu: anyNumber,
      managed: fc.array(anyProcess, { maxLength: 4 }),
      external: fc.array(anyProcess, { maxLength: 4 }),
      more: fc.jsonValue({ maxDepth: 2 }),
      isOurs: fc.boolean(),
    },
    { requiredKeys: ['cpu', 'managed', 'external', 'isOurs'] },
  ),
  { minLength: 1, maxLength: 6 },
);

type AnySample = typeof anySamples extends fc.Arbitrary<(infer Made)[]> ? Made : never;

function linesOf(made: readonly AnySample[]): string[] {
  return made.map(({ cpu, managed, external, more, isOurs }, index) => {
    const { system, ...others } = sample({ at: index * 5, cpu });
    const lists = { dumb_managed: managed, external, ...(more === undefined ? {} : { more }) };
    // Another order of the members is that of an earlier program.
    return JSON.stringify(
      isOurs ? { timestamp: others.timestamp, system, ...lists } : { ...lists, ...others, ...lists, system },
    );
  });
}

t.test('what a sample takes', async t => {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  const [first = '', ...others] = statements.migrations;
  if (typeof first === 'string') db.exec(first);
  db.prepare(
    `INSERT INTO metrics_points VALUES (${(START - 5) * 1_000}, 100, 505, 200, null, 7, 0, 7, 0, '[[],[]]')`,
  ).run();
  for (const migration of others) if (typeof migration === 'string') db.exec(migration);
  write(
    db,
    Array.from({ length: 100 }, (_, index) => ({ at: index * 5, cpu: index })),
  );
  t.same(
    db.prepare('SELECT DISTINCT typeof(cpu) cpu, typeof(mem) mem, typeof(net_sent) sent FROM metrics_points').all(),
    [{ cpu: 'integer', mem: 'integer', sent: 'integer' }],
    'whole numbers are kept as such, those of an earlier file too',
  );
  t.same(chart(db, { since: START - 5, now: START + 495, bucketSeconds: 1 }).stats.cpu, { min: 0, max: 99 });
  const { samples: count, storedBytes } = statements.storage(db);
  t.ok(storedBytes / count < 40, 'a sample is what differs from an earlier one');
});

t.test('any samples are told as they were written', async () => {
  fc.assert(
    fc.property(anySamples, made => {
      const db = open();
      const lines = linesOf(made);
      statements.write(db, lines);
      const told = [...statements.pieces(db, { from: 0 })].map(textOfPiece).join();
      strictEqual(told, lines.join());
      const items = [...statements.items(db, { from: 0, until: START + 100 })].map(text => JSON.parse(text));
      deepStrictEqual(
        items,
        lines.map(line => JSON.parse(JSON.stringify(compactItem(JSON.parse(line))))),
      );
    }),
    { numRuns: 60 },
  );
});

t.test('a damaged row is left out, and spoils no other', async () => {
  const places = fc.record({ row: fc.nat(), place: fc.nat(), byte: fc.nat(255), length: fc.option(fc.nat()) });
  fc.assert(
    fc.property(anySamples, places, (made, { row, place, byte, length }) => {
      const db = open();
      const lines = linesOf(made);
      statements.write(db, lines);
      const rows = db.prepare('SELECT timestamp, payload FROM metrics_snapshots ORDER BY timestamp').all();
      const index = row % rows.length;
      const { timestamp, payload } = rows[index] as { timestamp: number; payload: Buffer };
      const damaged = Buffer.from(payload).subarray(0, length === null ? payload.length : length % payload.length);
      if (damaged.length > 0) damaged[place % damaged.length] = byte;
      db.prepare('UPDATE metrics_snapshots SET payload = ? WHERE timestamp = ?').run(damaged, timestamp);
      const told = JSON.parse(`[${[...statements.pieces(db, { from: 0 })].map(textOfPiece).join()}]`) as Body[];
      const others = lines.flatMap((line, other) => (other === index ? [] : [JSON.parse(line)]));
      const isTold = told.length === lines.length;
      deepStrictEqual(isTold ? told.toSpliced(index, 1) : told, others);
      for (const text of statements.items(db, { from: 0, until: START + 100 })) JSON.parse(text);
      ok(chart(db).items.length >= others.length);
    }),
    { numRuns: 100 },
  );
});

t.test('a dictionary that nobody needs is not remembered for long', async t => {
  let reads = 0;
  const verbose = (sql?: unknown): void => {
    if (/FROM metrics_dictionaries WHERE id = /.test(String(sql))) reads += 1;
  };
  const db = new Database(EMPTY, { verbose }) as unknown as SqliteDatabase;
  const readsOfAll = (): number => {
    const before = reads;
    const texts = [...statements.pieces(db, { from: 0 })].map(textOfPiece).join();
    t.equal((JSON.parse(`[${texts}]`) as Body[]).length, statements.storage(db).samples);
    return reads - before;
  };
  let at = 0;
  const writeEra = (era: number, count: number): void => {
    const names = Array.from({ length: 30 }, (_, index) =>
      createHash('sha256').update(`${era} ${index}`).digest('hex'),
    );
    const texts = Array.from({ length: count }, () => {
      at += 5;
      return JSON.stringify({ ...sample({ at }), dumb_managed: names.map((name, pid) => ({ name, pid })) });
    });
    statements.write(db, texts);
  };
  const made = () => db.prepare('SELECT count(*) FROM metrics_dictionaries').pluck().get() as number;
  for (const era of [0, 1, 2]) writeEra(era, 200);
  const first = made();
  t.ok(first > 1);
  t.equal(readsOfAll(), 0, 'those that were just made are at hand');
  writeEra(2, 700);
  t.equal(readsOfAll(), 0);
  writeEra(2, 700);
  writeEra(3, 200);
  t.ok(made() > first);
  t.equal(readsOfAll(), first - 1, 'they are read again, but for the last before the present one');
  t.equal(readsOfAll(), 0, 'once');
});

t.test('a damaged dictionary takes its own samples alone', async t => {
  const before = open();
  write(before, [{ at: 0 }, { at: 5 }]);
  before.prepare('UPDATE metrics_dictionaries SET whole = ?').run(Buffer.from('{"timestamp":'));
  const db = open(contentOf(before));
  write(db, [{ at: 10, cpu: 7 }]);
  const items = JSON.parse(`[${[...statements.pieces(db, { from: 0 })].map(textOfPiece).join()}]`) as Body[];
  t.same(items, [sample({ at: 10, cpu: 7 })]);
  t.same(chart(db).timestamps, [START + 10]);
  audit(db);
});

t.test('lines of an earlier program', async t => {
  const db = open();
  const good = [
    sample({ at: 0 }),
    { ...sample({ at: 0 }), timestamp: `${START + 5.5}` },
    { timestamp: '2026-11-18T12:00:00Z' },
  ];
  const bad = ['{"timestamp":', '[]', '7', '{"timestamp":"soon"}', '{"timestamp":-1}', '{}', 'null', deepSample(0)];
  const lines = [...good.map(line => JSON.stringify(line)), ...bad];
  t.same(statements.importLines(db, lines), { samples: 3, skipped: 8 });
  t.same(statements.importLines(db, lines), { samples: 3, skipped: 8 }, 'again, and nothing is there twice');
  t.equal(statements.storage(db).samples, 3);
  const record = { completed: false, files: 1, samples: 3, skipped: 8 };
  statements.recordImport(db, record);
  t.same(statements.importRecord(db), record);
  audit(db);
});

t.test('a file of an earlier program is used as it is', async t => {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  db.exec(`CREATE TABLE metrics_snapshots (timestamp REAL PRIMARY KEY, payload BLOB NOT NULL, raw_size INTEGER NOT NULL, stored_size INTEGER NOT NULL, created_at REAL NOT NULL);
    CREATE TABLE metrics_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO metrics_metadata VALUES ('jsonl_migration_v1', 'complete')`);
  const insert = db.prepare('INSERT INTO metrics_snapshots VALUES (?, ?, ?, ?, 0)');
  for (let index = 0; index < 450; index += 1) {
    const text = JSON.stringify(sample({ at: index * 5, cpu: index % 100 }));
    const payload = index === 7 ? Buffer.from('damaged') : deflateSync(index === 8 ? deepSample(index * 5) : text);
    insert.run(START + index * 5, payload, text.length, payload.length);
  }
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  audit(db);
  t.equal(statements.importRecord(db).completed, true);
  t.equal(chart(db).stats, null, 'its numbers are not known yet');
  let pieces = 0;
  while (statements.readUnread(db)) pieces += 1;
  t.ok(pieces >= 2, 'they are read a piece at a time');
  t.same(chart(db).stats.cpu, { min: 0, max: 99 });
  write(db, [{ at: 450 * 5 }]);
  const items = JSON.parse(`[${[...statements.pieces(db, { from: START })].map(textOfPiece).join()}]`) as Body[];
  t.equal(items.length, 449, 'old and new ones, without the damaged one and the one that nests too deep');
  audit(db);
});
