// Samples are read from the database as they were written, and damage affects only the damaged samples.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import { compactItem } from '../../../plugins/metrics-history/codec/compact-item.ts';
import { textOfPiece } from '../../../plugins/metrics-history/codec/gzip-pieces.ts';
import {
  differences,
  itemOfDifferences,
  knownSample,
  wholeOfDifferences,
} from '../../../plugins/metrics-history/codec/shape-codec.ts';
import { VarintWriter } from '../../../plugins/metrics-history/codec/varints.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import {
  audit,
  type Body,
  chart,
  contentOf,
  EMPTY,
  open,
  START,
  sample,
  write,
} from '../../support/history-database.ts';

t.test('samples are read as they were written', async t => {
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

/** Processes come, go and change places; names have characters that JSON escapes, and numbers are of any kind. */
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
    // The order of members in lines of an earlier program.
    return JSON.stringify(
      isOurs ? { timestamp: others.timestamp, system, ...lists } : { ...lists, ...others, ...lists, system },
    );
  });
}

t.test('a stored sample is small, as the difference from an earlier one', async t => {
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

t.test('any samples are read as they were written', async () => {
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

t.test('a damaged row is left out and affects no other', async () => {
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

t.test('a good sample takes the place of a damaged one', async t => {
  const db = open();
  write(
    db,
    Array.from({ length: 300 }, (_, index) => ({ at: index * 5, cpu: index % 100 })),
  );
  const damage = (index: number) =>
    db.prepare(`UPDATE metrics_snapshots SET payload = x'00', item = x'00' WHERE timestamp = ?`).run(START + index * 5);
  // The last sample of a bucket, and a whole bucket.
  for (const index of [299, 289, 288, 280, 279]) damage(index);
  const read = () => {
    const { from, samples } = statements.windowOf(db, { since: null, limit: 100 });
    const told = [...statements.pieces(db, { from: from ?? 0 })].map(textOfPiece).join();
    return { samples, items: (JSON.parse(`[${told}]`) as Body[]).length };
  };
  t.same(read(), { samples: 100, items: 95 }, 'that they are damaged shows when they are read');
  t.same(read(), { samples: 100, items: 100 });
  damage(200);
  t.same(read().items, 99);
  t.same(read().items, 100);
  statements.write(db, [JSON.stringify(sample({ at: 299 * 5, cpu: 1 }))]);
  t.same(read(), { samples: 100, items: 100 }, 'a written one counts again');

  damage(299);
  const { timestamps } = chart(db, { since: START, now: START + 1_499, bucketSeconds: 10 });
  const last = timestamps.map((timestamp: number) => timestamp - START).filter((at: number) => at >= 1_380);
  t.same(last, [1_385, 1_390, 1_405, 1_415, 1_425, 1_435, 1_455, 1_465, 1_475, 1_485, 1_490]);
});

t.test('damaged numbers and rollups spoil no chart', t => {
  const db = open();
  write(
    db,
    Array.from({ length: 900 }, (_, index) => ({ at: index * 5, cpu: index % 100 })),
  );
  const request = { since: START, now: START + 4_500, bucketSeconds: 5, maxPoints: 1_000 };
  const whole = chart(db, request);
  t.ok((db.prepare('SELECT count(*) FROM metrics_rollups').pluck().get() as number) > 1);
  const damagedTexts = [
    '',
    '[[',
    '{}',
    '7',
    'null',
    '[1,2]',
    '[[7],[]]',
    '[[[{}]],[]]',
    '{"curves":1}',
    '{"curves":{}}',
  ];
  db.exec('DELETE FROM metrics_blocks');
  for (const text of damagedTexts) {
    // A copy, because a connection remembers the points of charts.
    const copy = new Database((db as unknown as Database.Database).serialize()) as unknown as SqliteDatabase;
    copy.prepare('UPDATE metrics_points SET parts = ? WHERE at_ms = ?').run(text, (START + 4_450) * 1_000);
    copy.prepare('UPDATE metrics_rollups SET ranges = ?').run(text === 'null' ? '' : text);
    const body = chart(copy, request);
    t.same(body.stats, whole.stats, text);
    t.same(body.series.cpu, whole.series.cpu);
    t.equal(body.series.filesystems['/data'].disk.filter((value: unknown) => value === null).length, 1);
  }
  t.end();
});

t.test('whatever the bytes of a sample are, they give JSON or an error', async t => {
  const { timestamp, system, ...others } = sample({ at: 0 });
  const known = knownSample(Buffer.from(JSON.stringify({ timestamp, system, ...others })));
  if (known === undefined) throw new Error('it has another form');
  const plain = (...parts: readonly (readonly string[])[]): Buffer => {
    const writer = new VarintWriter();
    for (const texts of parts) {
      writer.put(texts.length);
      for (const text of texts) {
        writer.put(1);
        writer.putBytes(Buffer.from(text));
      }
    }
    return Buffer.concat([Buffer.from([0]), writer.end()]);
  };
  const time = '"timestamp":7';
  const whole = plain([time, '"system":{}'], [], ['{"name":"x"}'], ['"more":1']);
  t.same(JSON.parse(wholeOfDifferences(whole, known).toString()).external, [{ name: 'x' }]);
  const damaged = {
    'no head': plain([], [], [], []),
    'half a head': plain([time], [], [], []),
    'an empty member': plain(['', time], [], [], []),
    'two members in one': plain([time, '"system":{},"more":1'], [], [], []),
    'an empty member of a plugin': plain([time, '"system":{}'], [], [], ['']),
  };
  for (const [what, bytes] of Object.entries(damaged)) {
    t.throws(() => wholeOfDifferences(bytes, known), what);
    t.throws(() => itemOfDifferences(bytes, known), what);
  }
  t.throws(() => itemOfDifferences(plain([time, '"system":{}'], [], ['7'], []), known), 'a process that is none');
  for (const made of [whole, differences(JSON.parse(known.text.toString()), known) ?? whole])
    for (let place = 0; place < made.length; place += 1)
      for (let byte = 0; byte < 256; byte += 1) {
        const bytes = Buffer.from(made);
        bytes[place] = byte;
        for (const read of [wholeOfDifferences, itemOfDifferences]) ok(isJsonOrError(() => read(bytes, known)));
      }
});

function isJsonOrError(read: () => Buffer): boolean {
  let text: string;
  try {
    text = read().toString();
  } catch {
    return true;
  }
  return typeof JSON.parse(text) === 'object';
}

t.test('an unused dictionary does not stay in memory for long', async t => {
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

t.test('a damaged dictionary costs only its own samples', async t => {
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
