// What is removed from the history by age and size: samples, their dictionaries and names, with the stored totals.
import { createHash } from 'node:crypto';
import t from 'tap';
import { textOfPiece } from '../../../plugins/metrics-history/codec/gzip-pieces.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import { audit, type Body, chart, open, START, sample, write } from '../../support/history-database.ts';

t.test('samples are thinned out and removed by age and size', async t => {
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

t.test('dictionaries are small, and are removed with their last samples', async t => {
  const db = open();
  const random = (seed: number) => createHash('sha256').update(String(seed)).digest('hex');
  const services = Array.from({ length: 60 }, (_, index) => ({ name: random(index), pid: index }));
  const texts = Array.from({ length: 900 }, (_, index) => {
    // After the first samples of each new dictionary come two that do not resemble them.
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

t.test('names of interfaces are removed with their last sample', async t => {
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

t.test('one sample of each minute stays, also when the minute ages in two parts', async t => {
  const db = open();
  const day = 86_400;
  write(
    db,
    Array.from({ length: 720 }, (_, index) => ({ at: index * 5 })),
  );
  for (let now = START + day; now <= START + day + 3_700; now += 305) {
    const maxBytes = statements.storage(db).storedBytes * 2;
    while (statements.maintain(db, { now, maxAgeDays: null, maxBytes }));
  }
  const counts = db.prepare('SELECT count(*) FROM metrics_snapshots GROUP BY cast(timestamp / 60 AS INTEGER)').pluck();
  t.ok((counts.all() as number[]).every(count => count === 1));
  audit(db);
});

t.test('samples after a clock was set back are thinned out too', async t => {
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
