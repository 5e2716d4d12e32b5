// What processes used over spans of time: exact for short spans, close for long ones in which samples are skipped.
import Database from 'better-sqlite3';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';

const START = 1_770_000_000;

function openHistory(): SqliteDatabase {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  return db;
}

const entry = (name: string, pid: number, numbers: { cpu: number; rss: number; read: number }) => ({
  name,
  pid,
  cpu_percent: numbers.cpu,
  rss: numbers.rss,
  disk_io: { read_bytes: numbers.read, write_bytes: 0 },
});

const sample = (timestamp: number, managed: readonly unknown[]) =>
  JSON.stringify({ timestamp, system: { cpu_percent: 1 }, dumb_managed: managed, external: [] });

t.test('every sample of a short span counts', async t => {
  const db = openHistory();
  statements.write(db, [
    sample(START, [entry('App', 10, { cpu: 10, rss: 100, read: 0 }), entry('Other', 5, { cpu: 1, rss: 1, read: 0 })]),
    sample(START + 10, [entry('App', 10, { cpu: 20, rss: 200, read: 1_000 })]),
    sample(START + 20, [entry('Other', 5, { cpu: 1, rss: 1, read: 50 })]),
    // The process was restarted: its counters start again.
    sample(START + 30, [entry('App', 20, { cpu: 60, rss: 300, read: 500 })]),
    sample(START + 40, [entry('App', 20, { cpu: 30, rss: 400, read: 1_500 })]),
  ]);
  const spans = [
    { from: START, before: START + 100 },
    { from: START - 100, before: START },
  ];
  const [now, before] = statements.processUsage(db, { spans, names: ['APP'] });
  t.match(now, {
    samples: 5,
    truncated: false,
    processes: [
      {
        processName: 'App',
        samples: 4,
        first: START,
        last: START + 40,
        pids: [10, 20],
        cpuPercent: { samples: 4, average: 30, median: 25, p95: 60, maximum: 60, minimum: 10 },
        rssBytes: { average: 250 },
        readBytesPerSecond: 100,
        writtenBytesPerSecond: 0,
      },
    ],
  });
  t.equal(now?.processes.length, 1);
  t.same(before, { samples: 0, truncated: false, processes: [] });
  const [all] = statements.processUsage(db, { spans, names: [] });
  t.same(
    all?.processes.map(({ processName }) => processName),
    ['App', 'Other'],
  );
});

t.test('evenly chosen samples of a long span count', async t => {
  const db = openHistory();
  const count = 6_000;
  const texts = Array.from({ length: count }, (_, index) =>
    sample(START + index * 5, [entry('App', 10, { cpu: index % 100, rss: 1_000 + index, read: index * 500 })]),
  );
  statements.write(db, texts);
  const [usage] = statements.processUsage(db, { spans: [{ from: START, before: START + count * 5 }], names: [] });
  const [app] = usage?.processes ?? [];
  t.equal(usage?.truncated, true);
  t.ok(usage !== undefined && usage.samples >= 1_400 && usage.samples <= 1_510, `${usage?.samples} samples`);
  t.equal(Math.round(app?.readBytesPerSecond ?? 0), 100);
  t.ok(Math.abs((app?.rssBytes?.average ?? 0) - 4_000) < 20, 'the average of all');
  t.ok(Math.abs((app?.cpuPercent?.p95 ?? 0) - 95) <= 4);
  t.equal(app?.first, START);
  t.ok((app?.last ?? 0) > START + (count - 8) * 5);
  const whole = { from: Number.NEGATIVE_INFINITY, before: Number.POSITIVE_INFINITY };
  const [all] = statements.processUsage(db, { spans: [whole], names: [] });
  t.ok(all !== undefined && all.samples >= 1_400 && all.samples <= 1_510, 'also in one without ends');
});

t.test('samples of an earlier program may have any form', async t => {
  const db = openHistory();
  statements.write(db, [
    JSON.stringify({ timestamp: START }),
    JSON.stringify({ timestamp: START + 1, dumb_managed: 'none' }),
    JSON.stringify({
      timestamp: START + 2,
      dumb_managed: [null, 7, { name: 3 }, { name: 'App', pid: 'x', cpu_percent: null }],
    }),
  ]);
  const [usage] = statements.processUsage(db, { spans: [{ from: START, before: START + 10 }], names: [] });
  t.match(usage, { samples: 3, processes: [{ processName: 'App', samples: 1, cpuPercent: null, pids: [] }] });
});
