// Schemas and rows of any kind come back from PostgreSQL with the values that they had in SQLite.
import type Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import { startPostgres } from '../../support/postgres.ts';
import { rounds } from '../../support/rounds.ts';
import { run, sqliteFile, taskOf } from '../../support/transfer.ts';

const server = await startPostgres(t);

interface Generated {
  readonly type: string;
  /**
   * What SQLite gets, and what a query of PostgreSQL must give for it, as its own expression of the column gives it.
   */
  readonly value: fc.Arbitrary<readonly [stored: unknown, expected: unknown]>;
  /** In SQL. Default: the column. */
  readonly read?: (column: string) => string;
}

const MICROS_PER_S = 1_000_000n;
/** Of the years from 1 to 9999. */
const FIRST_MICRO = -62_135_596_800n * MICROS_PER_S;
const LAST_MICRO = 253_402_300_799n * MICROS_PER_S;
const text = fc.string({ unit: 'binary', maxLength: 20 }).filter(one => !one.includes('\0'));
const integer = (bits: bigint) => fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n });

function isoText(micros: bigint): string {
  const rest = ((micros % MICROS_PER_S) + MICROS_PER_S) % MICROS_PER_S;
  const date = new Date(Number((micros - rest) / 1_000n)).toISOString();
  return `${date.slice(0, 10)} ${date.slice(11, 19)}.${String(rest).padStart(6, '0')}`;
}

const KINDS: readonly Generated[] = [
  { type: 'text', value: text.map(one => [one, one]) },
  { type: 'varchar(40)', value: text.map(one => [one, one]) },
  { type: 'text', value: integer(64n).map(one => [one, String(one)]) },
  { type: 'bytea', value: fc.uint8Array({ maxLength: 40 }).map(one => [Buffer.from(one), Buffer.from(one)]) },
  { type: 'boolean', value: fc.boolean().map(one => [BigInt(one), one]) },
  { type: 'smallint', value: integer(16n).map(one => [one, Number(one)]) },
  { type: 'integer', value: integer(32n).map(one => [one, Number(one)]) },
  { type: 'bigint', value: integer(64n).map(one => [one, String(one)]) },
  { type: 'double precision', value: fc.double({ noNaN: true }).map(one => [one, one]) },
  {
    type: 'real',
    value: fc.float({ noNaN: true }).map(one => [one, one]),
    read: column => `${column}::float8`,
  },
  {
    type: 'numeric',
    value: fc
      .tuple(integer(64n), fc.nat(12))
      .map(([digits, scale]) => [`${digits}e-${scale}`, [String(digits), scale]]),
    read: column => `${column}::text`,
  },
  {
    type: 'timestamp',
    value: fc.bigInt({ min: FIRST_MICRO, max: LAST_MICRO }).map(one => [isoText(one), String(one)]),
    read: column => `(extract(epoch FROM ${column}) * 1000000)::int8`,
  },
  {
    type: 'timestamptz',
    value: fc.bigInt({ min: FIRST_MICRO, max: LAST_MICRO }).map(one => [`${isoText(one)}Z`, String(one)]),
    read: column => `(extract(epoch FROM ${column}) * 1000000)::int8`,
  },
  {
    type: 'jsonb',
    value: fc.jsonValue({ maxDepth: 3 }).map(one => [JSON.stringify(one), JSON.parse(JSON.stringify(one))]),
  },
  {
    type: 'json',
    value: fc.jsonValue({ maxDepth: 3 }).map(one => [JSON.stringify(one), JSON.stringify(one)]),
    read: column => `${column}::text`,
  },
  { type: 'uuid', value: fc.uuid().map(one => [one.toUpperCase(), one]) },
];

/** A table that has no others goes over in binary form. */
const PLAIN = /^(?:text|varchar.*|boolean|smallint|integer|bigint|timestamp|timestamptz)$/;
const PLAIN_KINDS = KINDS.filter(({ type }) => PLAIN.test(type));

/** A counterexample shows the type, and a function by its name alone. */
function typeAt(kinds: readonly Generated[], at: number) {
  const found = kinds[at] as Generated;
  return { type: found.type, kind: Object.assign(() => found, { [fc.toStringMethod]: () => `kind ${at}` }) };
}

const name = fc.string({ unit: fc.constantFrom(...'abAB"\' ;é\\.$'), minLength: 1, maxLength: 12 });

/** A table of one row for each of `rows`, each of a value or null for each column. */
const table = fc.uniqueArray(name, { minLength: 1, maxLength: 6, selector: one => one.toLowerCase() }).chain(names =>
  fc
    .constantFrom(KINDS, PLAIN_KINDS)
    .chain(kinds =>
      fc.tuple(...names.map(column => fc.nat(kinds.length - 1).map(at => ({ column, ...typeAt(kinds, at) })))),
    )
    .chain(columns =>
      fc.record({
        columns: fc.constant(columns),
        rows: fc.array(fc.tuple(...columns.map(({ kind }) => fc.option(kind().value, { freq: 5 }))), { maxLength: 12 }),
      }),
    ),
);
type Table = typeof table extends fc.Arbitrary<infer Value> ? Value : never;

const quoted = (one: string): string => `"${one.replaceAll('"', '""')}"`;
const nameOf = (index: number): string => `T "${index}`;

function writeTable(db: Database.Database, index: number, { columns, rows }: Table): void {
  db.exec(`CREATE TABLE ${quoted(nameOf(index))} (${columns.map(({ column }) => quoted(column)).join()})`);
  const insert = db.prepare(`INSERT INTO ${quoted(nameOf(index))} VALUES (${columns.map(() => '?').join()})`);
  for (const row of rows) insert.run(...row.map(value => value?.[0] ?? null));
}

let database = 0;

t.test('value by value', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(table, { minLength: 12, maxLength: 24 }), async tables => {
      database += 1;
      const columnsOf = ({ columns }: Table) => columns.map(({ column, type }) => `${quoted(column)} ${type}`).join();
      const postgres = await server.create(
        `round ${database}`,
        tables.map((one, index) => `CREATE TABLE ${quoted(nameOf(index))} (${columnsOf(one)})`).join(';'),
      );
      const file = sqliteFile(server.directory, `round-${database}.db`, db => {
        for (const [index, one] of tables.entries()) writeTable(db, index, one);
      });
      await run(taskOf(server, file, `round ${database}`));
      for (const [index, { columns, rows }] of tables.entries()) {
        const selected = columns.map(({ column, kind }, at) => {
          const { read = (one: string) => one } = kind();
          return `${read(quoted(column))} AS c${at}`;
        });
        const found = await postgres.query(`SELECT ${selected.join()} FROM ${quoted(nameOf(index))} ORDER BY ctid`);
        const expected = rows.map(row => row.map(value => value?.[1] ?? null));
        const arrived = found.rows.map(row => columns.map(({ type }, at) => shown(type, row[`c${at}`])));
        if (!t.strictSame(arrived, expected)) throw new Error('a value differs');
      }
    }),
    { numRuns: rounds(2), endOnFailure: true },
  );
});

/** A number is its digits and how many of them stand behind the point. */
function shown(type: string, value: unknown): unknown {
  if (type !== 'numeric' || value === null) return value;
  const [whole = '', fraction = ''] = String(value).split('.');
  return [String(BigInt(whole.replace('-', '') + fraction) * (whole.startsWith('-') ? -1n : 1n)), fraction.length];
}
