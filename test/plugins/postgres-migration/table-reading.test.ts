// Rows that are read from the pages of a file give, in binary form, exactly the lines of rows that are read one by one,
// and most rows are read so.
import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import type { ColumnType, TablePlan } from '../../../plugins/postgres-migration/transfer/column-plan.ts';
import { Pages } from '../../../plugins/postgres-migration/transfer/pages.ts';
import { RowReading } from '../../../plugins/postgres-migration/transfer/row-reading.ts';
import { TableReading } from '../../../plugins/postgres-migration/transfer/table-reading.ts';
import { ValueFault } from '../../../plugins/postgres-migration/transfer/value-fault.ts';
import { testDir } from '../../support/directory.ts';
import { rounds } from '../../support/rounds.ts';

const file = path.join(testDir(t, {}), 'table.db');

const [FIRST_ROWID, LAST_ROWID] = [-(2n ** 63n), 2n ** 63n - 1n];

const text = (maxCharacters: number | null): ColumnType => ({ kind: 'text', maxCharacters, isPadded: false });
/** SQLite ends a statement at its first NUL. */
const literal = (value: string): string => `'${value.replaceAll("'", "''").replaceAll('\0', "' || char(0) || '")}'`;
const bytes = (value: Uint8Array): string => `x'${Buffer.from(value).toString('hex')}'`;
const integerIn = (bits: bigint) =>
  fc
    .oneof(
      fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }),
      fc.constantFrom(-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n),
    )
    .map(String);
const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
const timestamp = fc
  .tuple(
    fc.record({ year: fc.integer({ min: 1, max: 9_999 }), month: fc.integer({ min: 1, max: 12 }), day: fc.nat(28) }),
    fc.record({ hour: fc.nat(23), minute: fc.nat(59), second: fc.nat(59) }),
    fc.string({ unit: fc.constantFrom(...'0123456789999'), maxLength: 7 }),
    fc.constantFrom('', 'Z'),
    fc.constantFrom(' ', 'T'),
  )
  .map(([{ year, month, day }, { hour, minute, second }, fraction, zone, between]) => {
    const date = `${pad(year, 4)}-${pad(month)}-${pad(day + 1)}`;
    return literal(
      `${date}${between}${pad(hour)}:${pad(minute)}:${pad(second)}${fraction === '' ? '' : `.${fraction}`}${zone}`,
    );
  });
const word = fc.string({ unit: fc.constantFrom(...'ab\\\t\n\r\b\v\f\u0001\u000eé€😀'), maxLength: 30 }).map(literal);

/** Plain values of each column type, in SQL of SQLite. */
const COLUMNS: readonly (readonly [type: ColumnType, plain: fc.Arbitrary<string>])[] = [
  [text(null), word],
  [
    text(12),
    fc
      .string({ unit: 'binary', maxLength: 12 })
      .filter(one => !one.includes('\0'))
      .map(literal),
  ],
  [{ kind: 'boolean' }, fc.constantFrom('0', '1')],
  [{ kind: 'integer', bits: 16 }, integerIn(16n)],
  [{ kind: 'integer', bits: 32 }, integerIn(32n)],
  [{ kind: 'integer', bits: 64 }, integerIn(64n)],
  [{ kind: 'timestamp', fractionDigits: 6, hasZone: false }, timestamp],
  [{ kind: 'timestamp', fractionDigits: 6, hasZone: true }, timestamp],
  [{ kind: 'timestamp', fractionDigits: 3, hasZone: false }, timestamp],
];

const ID: TablePlan['columns'][number] = {
  name: 'Id',
  type: { kind: 'integer', bits: 32 },
  isNullable: false,
  isKey: true,
};
const IS: TablePlan['columns'][number] = { name: 'Is', type: { kind: 'boolean' }, isNullable: false, isKey: false };
const AT: TablePlan['columns'][number] = {
  name: 'At',
  type: { kind: 'timestamp', fractionDigits: 6, hasZone: false },
  isNullable: true,
  isKey: false,
};
const PLAN: TablePlan = {
  table: 't',
  columns: [ID, { name: 'Name', type: text(null), isNullable: true, isKey: false }],
  rowidName: 'rowid',
  primaryKey: ['Id'],
  maxRowBytes: 100,
  isBinary: true,
};

/** The errors for damaged pages. */
const EXPECTED = /^(?:the (?:pages|rows|database)|a (?:page|row|value)|The value of "offset")/;

/** Other values of a column, at the edges of each rule. */
const EDGES = [
  ...[
    "''",
    'NULL',
    "'a' || char(0)",
    "'007'",
    "'-0'",
    "'+1'",
    "'1.5'",
    "'true'",
    "x'31'",
    "x''",
    "x'ff'",
    '1.0',
    '-0.0',
  ],
  ...['1e15', '0.1', '1e300', '9e999', '2', '32768', '-32769', '2147483648', '-2147483649', '9223372036854775807'],
  ...[
    '123456789012345',
    '1234567890123456',
    '1700000000',
    "'2024-02-29'",
    "'2024-02-29 24:00:00'",
    "'2024-02-30 00:00:00'",
  ],
  ...["'2023-02-29 10:00:00'", "'0000-01-01 00:00:00'", "'2023-12-31 23:59:59.9999999'", "'2024-02-29 10:00:00.'"],
  ...[
    "'2024-02-29 10:00:00.12345678'",
    "'2024-02-29 10:00:00+01:00'",
    "'2024-02-29 10:00:00 Z'",
    "'2024-13-01 10:00:00'",
  ],
  ...[
    "x'323032342d30322d32392031303a30303a3030'",
    "'123456789012'",
    "'1234567890123'",
    `'${'\\'.repeat(12)}'`,
    "'éééééééééééé'",
  ],
  // Bytes that look like the ends of one or more values, and others.
  ...['61ff61', '61fe61', '61ff61fe61', '61ff61ff61fe61', 'fd', '61fd', 'ff', 'fe', '61c3'].map(
    one => `CAST(x'${one}' AS TEXT)`,
  ),
];
const HURTFUL = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.uint8Array({ maxLength: 20 }).map(bytes),
  fc.string({ unit: 'binary', maxLength: 40 }).map(literal),
);
const rowid = fc.oneof(
  fc.bigInt({ min: 0n, max: 2_000n }),
  fc.bigInt({ min: FIRST_ROWID, max: LAST_ROWID }),
  fc.constantFrom(FIRST_ROWID, LAST_ROWID),
);

/** Plain rows with one or two other values. */
const table = fc.array(fc.constantFrom(...COLUMNS), { minLength: 1, maxLength: 4 }).chain(kinds =>
  fc
    .record({
      columns: fc.tuple(
        ...kinds.map(([type]) => fc.record({ type: fc.constant(type), isNullable: fc.boolean(), isKey: fc.boolean() })),
      ),
      affinity: fc.constantFrom('', 'TEXT', 'INTEGER', 'NUMERIC', 'REAL'),
      pageBytes: fc.constantFrom(512, 4_096, 65_536),
      rowids: fc.uniqueArray(rowid, { minLength: 1, maxLength: 150 }),
      plain: fc.array(fc.tuple(...kinds.map(([, plain]) => fc.option(plain, { freq: 5 }))), {
        minLength: 1,
        maxLength: 50,
      }),
      hurts: fc.array(fc.record({ row: fc.nat(), column: fc.nat(), value: HURTFUL }), { maxLength: 2 }),
    })
    .map(({ rowids, plain, hurts, ...rest }) => {
      const rows = rowids.map((id, index) => {
        const values = plain[index % plain.length]?.map(
          (value, at) => value ?? (rest.columns[at]?.isNullable ? 'NULL' : '1'),
        );
        return { id, values: values ?? [] };
      });
      for (const { row, column, value } of hurts) {
        const { values } = rows[row % rows.length] as (typeof rows)[number];
        values[column % values.length] = value;
      }
      return { ...rest, rows };
    }),
);
type Table = typeof table extends fc.Arbitrary<infer Value> ? Value : never;

/** What two readings of the same table share. */
interface Outcome {
  readonly lines: string;
  readonly rows: number;
  readonly sanitized: ReadonlySet<unknown>;
  readonly fault?: object;
  /** How many rows were read from the pages. */
  readonly plainRows?: number;
}

function write(
  { columns, affinity, pageBytes, rows }: Table,
  encoding: string,
): { db: Database.Database; plan: TablePlan } {
  const db = new Database(':memory:');
  db.pragma(`encoding = '${encoding}'`);
  db.pragma(`page_size = ${pageBytes}`);
  const names = columns.map((_, index) => `c${index}`);
  db.exec(`CREATE TABLE t (${names.map(name => `${name} ${affinity}`).join()})`);
  db.transaction(() => {
    for (const { id, values } of rows)
      db.exec(
        `INSERT INTO t (rowid, ${names.join()}) VALUES (${[id === FIRST_ROWID ? '-9223372036854775808' : id, ...values].join()})`,
      );
  })();
  const plan = {
    table: 't',
    columns: columns.map((column, index) => ({ name: `c${index}`, ...column })),
    rowidName: 'rowid',
    primaryKey: [],
    maxRowBytes: 500,
    isBinary: true,
  };
  return { db, plan };
}

function oneByOne(db: Database.Database, plan: TablePlan): Outcome {
  const reading = new RowReading(db, plan);
  let lines = '';
  try {
    for (const piece of reading.lines(FIRST_ROWID, LAST_ROWID)) lines += piece;
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    return { lines: '', rows: 0, sanitized: new Set(), fault: { ...reading.place, rule: error.rule } };
  }
  return { lines, rows: reading.rows, sanitized: new Set(reading.sanitized) };
}

/** The lines of a server that has read rows in binary form. */
function linesOf(binary: Buffer, { columns }: TablePlan): string {
  let lines = '';
  for (let at = 0; at < binary.length; ) {
    if (binary.readInt16BE(at) !== columns.length) throw new Error('a row has another number of values');
    at += 2;
    const values = columns.map(({ type }) => {
      const length = binary.readInt32BE(at);
      at += 4 + Math.max(0, length);
      return length === -1 ? '\\N' : textOf(binary.subarray(at - length, at), type);
    });
    lines += `${values.join('\t')}\n`;
  }
  return lines;
}

const SIGNS: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\\': '\\',
};

function textOf(value: Buffer, type: ColumnType): string {
  if (type.kind === 'boolean') return value.equals(Buffer.of(1)) ? 't' : 'f';
  if (type.kind === 'integer') {
    if (value.length * 8 !== type.bits) throw new Error('an integer has another size');
    return String(BigInt.asIntN(type.bits, BigInt(`0x${value.toString('hex')}`)));
  }
  if (type.kind !== 'timestamp') return value.toString().replace(/[\b\t\n\v\f\r\\]/g, sign => `\\${SIGNS[sign]}`);
  const micros = value.readBigInt64BE() + BigInt(Date.UTC(2000, 0)) * 1_000n;
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((micros - rest) / 1_000n));
  const year = pad(date.getUTCFullYear(), 4);
  const [, day, clock] = /(-\d\d-\d\d)T(.{8})/.exec(date.toISOString()) ?? [];
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(6, '0')}`.replace(/0+$/, '');
  return `${year}${day} ${clock}${fraction}${type.hasZone ? '+00' : ''}`;
}

function whole(db: Database.Database, plan: TablePlan): Outcome {
  const { plainRows: _, ...outcome } = withPlainRows(db, plan);
  return outcome;
}

function withPlainRows(db: Database.Database, plan: TablePlan): Outcome {
  writeFileSync(file, db.serialize());
  const fd = openSync(file, 'r');
  try {
    return read(new TableReading(db, plan, new Pages(fd)), plan);
  } finally {
    closeSync(fd);
  }
}

function read(reading: TableReading, plan: TablePlan): Outcome {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const chunk = reading.next();
    if (chunk.kind === 'rows') pieces.push(Buffer.from(chunk.bytes));
    else if (chunk.kind === 'end') {
      const { rows, sanitized } = chunk;
      const lines = linesOf(Buffer.concat(pieces), plan);
      return { lines, rows, sanitized: new Set(sanitized), plainRows: reading.plainRows };
    } else {
      const { kind: _, ...fault } = chunk;
      return { lines: '', rows: 0, sanitized: new Set(), fault };
    }
  }
}

t.test('each edge of each rule is right among plain rows', t => {
  const differing: object[] = [];
  for (const [type, plain] of COLUMNS) {
    const [value = ''] = fc.sample(plain, { numRuns: 1, seed: 1 });
    for (const edge of EDGES)
      for (const count of [1, 2, 3]) {
        const columns = Array.from({ length: count }, () => ({ type, isNullable: true, isKey: false }));
        const rows = Array.from({ length: 9 }, (_, id) => ({ id: BigInt(id), values: Array(count).fill(value) }));
        (rows[4] as (typeof rows)[number]).values[count - 1] = edge;
        const { db, plan } = write({ columns, affinity: '', pageBytes: 4_096, rows } as Table, 'UTF-8');
        if (!isDeepStrictEqual(whole(db, plan), oneByOne(db, plan))) differing.push({ type, edge, count });
        db.close();
      }
  }
  t.same(differing, []);
  t.end();
});

t.test('rows from the pages equal rows read one by one', t => {
  fc.assert(
    fc.property(table, fc.constantFrom('UTF-8', 'UTF-16le'), (given, encoding) => {
      const { db, plan } = write(given, encoding);
      const ok = t.strictSame(whole(db, plan), oneByOne(db, plan));
      db.close();
      if (!ok) throw new Error('the lines differ');
    }),
    { numRuns: rounds(40), endOnFailure: true },
  );
  t.end();
});

t.test('plain rows are read from pages, others one by one with the rest of their page', t => {
  const db = new Database(':memory:');
  db.exec(`
    CREATE TABLE t (Id INTEGER PRIMARY KEY, "Name" TEXT, "Is" INTEGER, "At" DATETIME);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO t SELECT iif(i <= 10000, i, i * 7), iif(i % 5 = 0, NULL, 'Name ' || i || char(10)), i % 2, '2024-02-29 10:11:12.' || (1000000 + i) FROM n;
    UPDATE t SET "Name" = replace(hex(zeroblob(3000)), '0', 'é') WHERE Id IN (7, 7000, 70007);
    UPDATE t SET "At" = '' WHERE Id IN (5000, 105000)`);
  const plan: TablePlan = { ...PLAN, columns: [...PLAN.columns, IS, AT], maxRowBytes: 12_100 };
  const { plainRows = 0, ...outcome } = withPlainRows(db, plan);
  t.match(outcome, { rows: 20_000, sanitized: new Set([{ column: 'At', rule: 'empty_text', rows: 2 }]) });
  t.strictSame(outcome, oneByOne(db, plan));
  t.ok(plainRows > 19_700, `${plainRows} rows are taken from the pages`);
  db.close();
  t.end();
});

t.test('added, reordered and computed columns are read right', t => {
  const db = new Database(':memory:');
  db.exec(`
    CREATE TABLE t ("Name" TEXT, Seen REAL, Twice INT AS (Id * 2), Id INTEGER PRIMARY KEY, Kept INT AS (Id + 1) STORED);
    INSERT INTO t ("Name", Id) VALUES ('one', 1), ('two', 2);
    ALTER TABLE t ADD COLUMN "Is" INTEGER DEFAULT 1;
    ALTER TABLE t ADD COLUMN "At" DATETIME;
    INSERT INTO t ("Name", Id, "Is") VALUES ('three', 3, 0);
    INSERT INTO t ("Name", Id, "Is", "At") VALUES ('four', 4, 0, '2024-02-29 10:11:12')`);
  const kept: TablePlan['columns'][number] = { ...ID, name: 'Kept' };
  const plan: TablePlan = { ...PLAN, columns: [AT, ...PLAN.columns, kept, IS] };
  const { plainRows, ...outcome } = withPlainRows(db, plan);
  t.strictSame(outcome, oneByOne(db, plan));
  t.equal(outcome.lines.split('\n')[0], '\\N\t1\tone\t2\tt');
  db.exec('DELETE FROM t WHERE Id <= 2');
  t.match(withPlainRows(db, plan), { plainRows: 2, rows: 2 });
  const computed = { ...plan, columns: [...plan.columns, { ...ID, name: 'Twice' }] };
  t.match(withPlainRows(db, computed), { ...oneByOne(db, computed), plainRows: 0 });
  db.close();
  t.end();
});

t.test('hostile pages end in an error or in rows, never in a loop', t => {
  const db = new Database(':memory:');
  db.pragma('page_size = 512');
  db.exec(`CREATE TABLE t (Id INTEGER PRIMARY KEY, "Name" TEXT);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO t SELECT i, 'Name ' || i FROM n`);
  const sound = db.serialize();
  const others: string[] = [];
  const plan: TablePlan = { ...PLAN, maxRowBytes: 100 };
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 20 }), changes => {
      const bytes = Buffer.from(sound);
      for (const [place, byte] of changes) bytes[512 + (place % (bytes.length - 512))] = byte;
      writeFileSync(file, bytes);
      const fd = openSync(file, 'r');
      try {
        const reading = new TableReading(db, plan, new Pages(fd));
        let chunks = 0;
        while (reading.next().kind === 'rows') chunks += 1;
        if (chunks > 2_000) others.push('too many chunks');
      } catch (error) {
        const { message } = error as Error;
        if (!EXPECTED.test(message)) others.push(message);
      } finally {
        closeSync(fd);
      }
    }),
    { numRuns: rounds(40), endOnFailure: true },
  );
  t.same(others, []);
  db.close();
  t.end();
});
