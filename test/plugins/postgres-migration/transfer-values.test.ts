// Every rule of types, by values that SQLite holds: what PostgreSQL has for each afterwards, and which are refused.
import Database from 'better-sqlite3';
import fc from 'fast-check';
import t from 'tap';
import { doubleText } from '../../../plugins/postgres-migration/transfer/number-text.ts';
import { TableReading } from '../../../plugins/postgres-migration/transfer/table-reading.ts';
import { Target } from '../../../plugins/postgres-migration/transfer/target.ts';
import { readTables } from '../../../plugins/postgres-migration/transfer/target-schema.ts';
import { startPostgres } from '../../support/postgres.ts';
import { run, sqliteFile, taskOf } from '../../support/transfer.ts';

const server = await startPostgres(t);

/** In SQL of SQLite, with the text that PostgreSQL gives for it afterwards. */
type Kept = readonly [value: string, text: string | null];

const KEPT: Readonly<Record<string, readonly Kept[]>> = {
  boolean: [
    ['0', 'false'],
    ['1', 'true'],
    ["'0'", 'false'],
    ["'true'", 'true'],
    ["''", null],
    ['NULL', null],
  ],
  smallint: [
    ['-32768', '-32768'],
    ['7.0', '7'],
  ],
  integer: [
    ['2147483647', '2147483647'],
    ["'-12'", '-12'],
  ],
  bigint: [
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775807', '9223372036854775807'],
    ['1e18', '1000000000000000000'],
    ["''", null],
  ],
  real: [
    ['0.1', '0.1'],
    ['16777217', '1.6777216e+07'],
  ],
  'double precision': [
    ['0.1', '0.1'],
    ['1e15', '1e+15'],
    ['123456789012345.0', '123456789012345'],
    ['1e-5', '1e-05'],
    ['9e999', 'Infinity'],
    ['-0.0', '-0'],
    ["'2.5e3'", '2500'],
    ['-499852623235514400.0', '-4.9985262323551437e+17'],
  ],
  numeric: [
    ['12', '12'],
    ["'1.50'", '1.50'],
    ["'-1.5e-3'", '-0.0015'],
    ["'1e3'", '1000'],
    ["''", null],
  ],
  'numeric(6,2)': [
    ['1', '1.00'],
    ['2.345', '2.35'],
    ["'-0.004'", '0.00'],
    ["'9999.99'", '9999.99'],
  ],
  text: [
    ["'a\\b' || char(9, 10, 13, 8, 11, 12) || 'é😀'", 'a\\b\t\n\r\b\v\fé😀'],
    ["'\\.'", '\\.'],
    ["'\\N'", '\\N'],
    ["''", ''],
    ['12', '12'],
    ['1.0', '1.0'],
    ["x'c3a9'", 'é'],
    ["CAST(x'61ff62' AS TEXT)", 'a\ufffdb'],
    ["'a' || char(0) || 'b'", 'ab'],
    ['char(65533)', '\ufffd'],
    ["char(65279) || 'x'", '\ufeffx'],
  ],
  'varchar(3)': [["'😀éx'", '😀éx']],
  'character(4)': [["'ab'", 'ab  ']],
  bytea: [
    ["x'00ff5c'", '\\x00ff5c'],
    ["CAST(x'61ff' AS TEXT)", '\\x61ff'],
    ["'é'", '\\xc3a9'],
    ["x''", '\\x'],
  ],
  timestamp: [
    ["'2024-02-29 10:11:12.1234567Z'", '2024-02-29 10:11:12.123457'],
    ["'2024-02-29T10:11'", '2024-02-29 10:11:00'],
    ["'2024-02-29'", '2024-02-29 00:00:00'],
    ["'0001-01-01 00:00:00'", '0001-01-01 00:00:00'],
    ["'2023-12-31 23:59:59.9999999'", '2024-01-01 00:00:00'],
    ["'2024-01-01 00:30:00+01:00'", '2023-12-31 23:30:00'],
    ["'2024-01-01 00:30:00.5-0130'", '2024-01-01 02:00:00.5'],
    ['99999999999', '5138-11-16 09:46:39'],
    ['100000000000', '1973-03-03 09:46:40'],
    ['-100000000001', '1966-10-31 14:13:19.999'],
    ['1700000000.25', '2023-11-14 22:13:20.25'],
    ["''", null],
  ],
  'timestamp(3) with time zone': [["'2024-02-29 10:11:12.12345'", '2024-02-29 10:11:12.123+00']],
  date: [
    ["'2024-02-29'", '2024-02-29'],
    ["'2024-02-29 00:00:00Z'", '2024-02-29'],
  ],
  time: [
    ["'07:08'", '07:08:00'],
    ["'23:59:59.9999999'", '24:00:00'],
    ["'07:08:09.5'", '07:08:09.5'],
  ],
  interval: [
    ["'1.02:03:04.5000000'", '1 day 02:03:04.5'],
    ["'-2.00:00:01'", '-2 days -00:00:01'],
    ["'-1.00:00:00'", '-1 days'],
    ["'00:00:00'", '00:00:00'],
    ["'-00:00:00.25'", '-00:00:00.25'],
    ["'10.00:00:00'", '10 days'],
  ],
  uuid: [["'3B241101-E2BB-4255-8CAF-4136C566A962'", '3b241101-e2bb-4255-8caf-4136c566a962']],
  json: [[`'{"b": 1,  "a":1e2}'`, '{"b": 1,  "a":1e2}']],
  jsonb: [
    [
      `'{"bb":1.50,"a":[1e2, -0,{}],"bb":"\\u00e9\\n\\"","c":null,"":true}'`,
      '{"": true, "a": [100, 0, {}], "c": null, "bb": "é\\n\\""}',
    ],
  ],
  mood: [["'glad'", 'glad']],
  short_word: [["'abc'", 'abc']],
};

const REFUSED: readonly (readonly [type: string, value: string, rule: string])[] = [
  ['boolean', '2', 'boolean'],
  ['boolean', '1.0', 'boolean'],
  ['boolean', "'True'", 'boolean'],
  ['boolean NOT NULL', "''", 'empty_text'],
  ['smallint', '32768', 'range'],
  ['integer', '2147483648', 'range'],
  ['integer', '1.5', 'integer'],
  ['integer', "'12a'", 'integer'],
  ['integer', "x'31'", 'blob_in_column'],
  ['bigint', '9223372036854775808.0', 'range'],
  ['integer NOT NULL', 'NULL', 'not_null'],
  ['real', '1e39', 'range'],
  ['double precision', '9007199254740993', 'range'],
  ['double precision', "'x'", 'number'],
  ['numeric(4,2)', '100', 'range'],
  ['numeric', "'1e1000000'", 'range'],
  ['numeric', "'.'", 'number'],
  ['numeric(4,2) UNIQUE', '1.005', 'rounded'],
  ['text UNIQUE', "CAST(x'61ff62' AS TEXT)", 'invalid_utf8'],
  ['text UNIQUE', "'a' || char(0)", 'nul'],
  ['text', "x'ff'", 'invalid_utf8'],
  ['varchar(3)', "'abcd'", 'too_long'],
  ['bytea', '5', 'bytea'],
  ['timestamp', "'2023-02-29 10:00:00'", 'timestamp'],
  ['timestamp', "'0000-01-01'", 'timestamp'],
  ['timestamp', "'2023-02-28 24:00:00'", 'timestamp'],
  ['timestamp', "'2023-02-28 10:00:00.12345678'", 'timestamp'],
  ['timestamp', "'yesterday'", 'timestamp'],
  ['timestamp', '9223372036854775807', 'range'],
  ['date', "'2024-02-29 00:00:01'", 'date'],
  ['time', "'25:00'", 'time'],
  ['interval', "'1 day'", 'interval'],
  ['interval', "'24:00:00'", 'interval'],
  ['uuid', "'3B241101'", 'uuid'],
  ['json', "'{'", 'json'],
  ['json', "''", 'json'],
  ['jsonb', `'"\\u0000"'`, 'json'],
  ['jsonb', `'"\\ud800"'`, 'json'],
  ['mood', "'sad'", 'enum'],
];
const KINDS = "CREATE TYPE mood AS ENUM ('glad', 'so-so'); CREATE DOMAIN short_word AS varchar(4)";

t.test('what each type holds afterwards', async t => {
  const types = Object.keys(KEPT);
  const tables = types.map(type => `CREATE TABLE "T ${type}" ("Id" bigint PRIMARY KEY, "V" ${type})`).join(';');
  const postgres = await server.create('kept', `${KINDS}; ${tables}`);
  const file = sqliteFile(server.directory, 'kept.db', db => {
    for (const [type, values] of Object.entries(KEPT)) {
      db.exec(`CREATE TABLE "T ${type}" ("Id" INTEGER PRIMARY KEY, "V")`);
      for (const [value] of values) db.exec(`INSERT INTO "T ${type}" ("V") VALUES (${value})`);
    }
  });
  const result = await run(taskOf(server, file, 'kept'));
  await postgres.query("SET timezone = 'UTC'");
  for (const [type, values] of Object.entries(KEPT)) {
    const { rows } = await postgres.query(
      `SELECT "V"${type.startsWith('char') ? '' : '::text'} AS text FROM "T ${type}" ORDER BY "Id"`,
    );
    for (const [index, [value, text]] of values.entries()) t.equal(rows[index].text, text, `${type} ${value}`);
  }
  const changed = (table: string, rule: string, rows: number) => ({
    label: 'main',
    table: `T ${table}`,
    column: 'V',
    rule,
    rows,
  });
  t.same(
    new Set(result.sanitized),
    new Set([
      changed('bigint', 'empty_text', 1),
      changed('boolean', 'empty_text', 1),
      changed('numeric', 'empty_text', 1),
      changed('numeric(6,2)', 'rounded', 2),
      changed('text', 'invalid_utf8', 1),
      changed('text', 'nul', 1),
      changed('timestamp', 'empty_text', 1),
    ]),
  );
});

t.test('a double has the digits that the server gives it', async t => {
  const short = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 17n }), fc.nat(17), fc.integer({ min: -320, max: 308 }))
    .map(([digits, cut, exponent]) => Number(`${digits / 10n ** BigInt(cut)}e${exponent}`));
  const power = fc.integer({ min: -1_074, max: 1_023 }).map(exponent => 2 ** exponent);
  const doubles = fc
    .sample(fc.oneof(short, power, fc.double({ noNaN: true })), 5_000)
    .filter(value => !Object.is(value, -0));
  const postgres = await server.create('doubles', '');
  const { rows } = await postgres.query('SELECT value::text AS text FROM unnest($1::float8[]) AS value', [doubles]);
  t.same(
    doubles.map(doubleText),
    rows.map(({ text }) => text),
  );
});

t.test('what is refused, by which rule, and where', async t => {
  const tables = REFUSED.map(([type], index) => `CREATE TABLE "T${index}" ("V" ${type})`).join(';');
  await server.create('refused', `${KINDS}; ${tables}`);
  const task = taskOf(server, '', 'refused');
  const target = await Target.connect(task, { label: 'main', file: '', database: 'refused', leftOut: [] });
  t.teardown(() => target.close());
  const found = new Map((await readTables(target)).map(table => [table.name, table]));
  const db = new Database(':memory:');
  for (const [index, [type, value, rule]] of REFUSED.entries()) {
    const [column] = found.get(`T${index}`)?.columns ?? [];
    if (column?.type == null) throw new Error(`${type} is not known`);
    db.exec(`CREATE TABLE "T${index}" ("V"); INSERT INTO "T${index}" (rowid, "V") VALUES (77, ${value})`);
    const { name, isNullable, isKey } = column;
    const columns = [{ name, type: column.type, isNullable, isKey }];
    const reading = new TableReading(db, {
      table: `T${index}`,
      columns,
      rowidName: 'rowid',
      primaryKey: [],
      maxRowBytes: 8,
      isBinary: false,
    });
    t.same(reading.next(), { kind: 'fault', column: 'V', rule, rowid: '77' }, `${type} ${value}`);
  }
});
