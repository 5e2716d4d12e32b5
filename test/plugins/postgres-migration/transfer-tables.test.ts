// How tables, keys and sequences of both sides come together: what is copied, what is left, and what is refused with
// the place where it stands and never with a value.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import t from 'tap';
import type { TransferProgress } from '../../../plugins/postgres-migration/transfer/task.ts';
import { startPostgres } from '../../support/postgres.ts';
import { faultOf, run, sqliteFile, taskOf } from '../../support/transfer.ts';

const server = await startPostgres(t);
const SECRET = 'never-told';

const digestOf = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

t.test('a database whose tables differ in everything that is allowed', async t => {
  const postgres = await server.create(
    'whole',
    `CREATE TABLE "VersionInfo" ("Version" bigint);
     INSERT INTO "VersionInfo" VALUES (217);
     CREATE TABLE "Series" ("Id" int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, "Title" text UNIQUE, "Added" timestamp,
       "Double" int GENERATED ALWAYS AS ("Id" * 2) STORED, "Extra" int NOT NULL DEFAULT 5);
     INSERT INTO "Series" ("Title") VALUES ('a seed');
     CREATE TABLE "Episodes" ("Id" serial PRIMARY KEY, "SeriesId" int REFERENCES "Series" ("Id"),
       "Next" int REFERENCES "Episodes" ("Id"));
     CREATE TABLE "Sent" ("Id" bigserial PRIMARY KEY, "V" text);
     CREATE TABLE "Empty" ("Id" serial PRIMARY KEY);
     CREATE TABLE "Seeds" ("Id" serial PRIMARY KEY);
     INSERT INTO "Seeds" DEFAULT VALUES;
     CREATE TABLE "Keyed" ("Key" text PRIMARY KEY, "V" text);
     CREATE TABLE "Long" ("Id" int PRIMARY KEY, "T" text, "V" bytea, "J" json);
     CREATE TABLE "Shadowed" ("rowid" text, "oid" text, "V" text);`,
  );
  // Pieces end in the middle of a pair, of an escape and of a byte that is written as two signs.
  const long = {
    text: `x${'😀\\\n'.repeat(50_000)}`,
    bytes: Buffer.alloc(300_001, 'abc'),
    json: `["${'y'.repeat(99_999)}"]`,
  };
  const file = sqliteFile(server.directory, 'whole.db', db => {
    db.exec('CREATE TABLE "Long" ("Id" INTEGER PRIMARY KEY, "T" TEXT, "V" BLOB, "J" TEXT)');
    const insert = db.prepare('INSERT INTO "Long" VALUES (?, ?, ?, ?)');
    insert.run(1, 'short', null, '1');
    insert.run(2, long.text, long.bytes, long.json);
    insert.run(3, null, Buffer.from(long.text), null);
    db.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE "VersionInfo" ("Version" INTEGER); INSERT INTO "VersionInfo" VALUES (1), (2);
      CREATE TABLE "Series" ("Id" INTEGER PRIMARY KEY AUTOINCREMENT, "Title" TEXT, "Added" DATETIME, "Gone" TEXT);
      CREATE INDEX "ByTitle" ON "Series" ("Title");
      CREATE TABLE "Episodes" ("Id" INTEGER PRIMARY KEY, "SeriesId" INTEGER, "Next" INTEGER);
      CREATE TABLE "Sent" ("Id" INTEGER PRIMARY KEY AUTOINCREMENT, "V" TEXT);
      CREATE TABLE "Empty" ("Id" INTEGER PRIMARY KEY);
      CREATE TABLE "Nowhere" ("Id" INTEGER PRIMARY KEY);
      CREATE TABLE "Keyed" ("Key" TEXT PRIMARY KEY, "V" TEXT) WITHOUT ROWID;
      CREATE TABLE "Shadowed" ("rowid" TEXT, "oid" TEXT, "V" TEXT);
      INSERT INTO "Series" ("Id", "Title", "Added") VALUES (41, 'abc', '2024-01-01'), (7, 'ABC', NULL);
      INSERT INTO "Episodes" VALUES (1, 41, 2), (2, NULL, 1);
      INSERT INTO "Sent" ("V") VALUES ('x'), ('y'), ('z'); DELETE FROM "Sent";
      INSERT INTO "Keyed" VALUES ('k', CAST(x'61ff' AS TEXT)), ('l', char(65533));
      INSERT INTO "Shadowed" VALUES ('r', 'o', CAST(x'ff' AS TEXT))`);
  });
  const before = await digestOf(file);
  const names = await readdir(server.directory);
  const steps: TransferProgress[] = [];
  const task = {
    ...taskOf(server, file, 'whole'),
    user: process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null,
  };
  const result = await run(task, { onProgress: step => steps.push(step) });
  t.match(result, {
    imports: [
      {
        label: 'main',
        database: 'whole',
        tables: 7,
        rows: 10,
        sequencesReset: 5,
        sequencesValidated: 5,
        foreignKeysValidated: 2,
        primaryKeyDigestsValidated: 6,
        fullRowDigestsValidated: 7,
        rowCounts: [
          { table: 'Empty', rows: 0 },
          { table: 'Episodes', rows: 2 },
          { table: 'Keyed', rows: 2 },
          { table: 'Long', rows: 3 },
          { table: 'Sent', rows: 0 },
          { table: 'Series', rows: 2 },
          { table: 'Shadowed', rows: 1 },
        ],
      },
    ],
    sanitized: [
      { table: 'Keyed', column: 'V', rule: 'invalid_utf8', rows: 1 },
      { table: 'Shadowed', column: 'V', rule: 'invalid_utf8', rows: 1 },
    ],
    warnings: [/"Nowhere" is empty/, /column "Gone" of the table "Series" is empty/],
  });
  t.same((await postgres.query('SELECT * FROM "VersionInfo"')).rows, [{ Version: '217' }], 'bookkeeping stays');
  t.same((await postgres.query('SELECT count(*)::int FROM "Seeds"')).rows, [{ count: 0 }], 'seeds go');
  t.same((await postgres.query('SELECT "Id", "Double", "Extra" FROM "Series" ORDER BY 1')).rows, [
    { Id: 7, Double: 14, Extra: 5 },
    { Id: 41, Double: 82, Extra: 5 },
  ]);
  const { rows: kept } = await postgres.query('SELECT "T", "V", "J"::text FROM "Long" ORDER BY "Id"');
  t.ok(kept[1].T === long.text && kept[1].V.equals(long.bytes) && kept[1].J === long.json, 'long values');
  t.ok(kept[2].V.equals(Buffer.from(long.text)));
  const next = async (sequence: string) => (await postgres.query(`SELECT nextval('"${sequence}"')`)).rows[0].nextval;
  t.equal(await next('Series_Id_seq'), '42', 'above what the column holds');
  t.equal(await next('Episodes_Id_seq'), '3');
  t.equal(await next('Sent_Id_seq'), '4', 'above what SQLite has ever given out');
  t.equal(await next('Empty_Id_seq'), '1');
  t.equal(await digestOf(file), before, 'the source is the same byte for byte');
  t.same(await readdir(server.directory), names, 'nothing is left beside it');
  for (const stage of ['import', 'validation']) {
    const shares = steps.filter(step => step.stage === stage).map(({ share }) => share);
    t.same(
      shares,
      [...shares].sort((one, other) => one - other),
      'it never goes back',
    );
    t.equal(shares.at(-1), 1);
    t.same(
      steps.filter(step => step.stage === stage && step.isTableDone).map(({ table }) => table),
      result.imports[0]?.rowCounts.map(({ table }) => table),
    );
  }
});

t.test('databases without a table, two at a time', async t => {
  for (const database of ['void', 'void-log']) await server.create(database, '');
  const file = sqliteFile(server.directory, 'void.db', db => db.exec('CREATE TABLE a (b); DROP TABLE a'));
  const task = taskOf(server, file, 'void');
  const log = { label: 'log', file, database: 'void-log', leftOut: [] };
  const { imports } = await run({ ...task, databases: [...task.databases, log] });
  t.match(imports, [
    { label: 'main', tables: 0, rows: 0 },
    { label: 'log', tables: 0, rows: 0 },
  ]);
});

interface Refusal {
  readonly name: string;
  readonly target: string;
  readonly source: string;
  readonly fault: object;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: 'a table that PostgreSQL does not have',
    target: '',
    source: 'CREATE TABLE "Own" ("V"); INSERT INTO "Own" VALUES (1)',
    fault: { code: 'transfer.schema', table: 'Own', rule: 'missing_table' },
  },
  {
    name: 'a table whose name differs in case',
    target: 'CREATE TABLE "own" ("V" int)',
    source: 'CREATE TABLE "Own" ("V"); INSERT INTO "Own" VALUES (1)',
    fault: { table: 'Own', rule: 'missing_table' },
  },
  {
    name: 'a column that PostgreSQL does not have',
    target: 'CREATE TABLE "T" ("Id" int)',
    source: `CREATE TABLE "T" ("Id", "V"); INSERT INTO "T" VALUES (1, '${SECRET}')`,
    fault: { table: 'T', column: 'V', rule: 'missing_column' },
  },
  {
    name: 'a column that SQLite does not have',
    target: 'CREATE TABLE "T" ("Id" int, "Must" int NOT NULL)',
    source: 'CREATE TABLE "T" ("Id")',
    fault: { table: 'T', column: 'Must', rule: 'required_column' },
  },
  {
    name: 'a type without a rule',
    target: 'CREATE TABLE "T" ("Id" int, "At" point)',
    source: 'CREATE TABLE "T" ("Id", "At")',
    fault: { table: 'T', column: 'At', rule: 'unsupported_type' },
  },
  {
    name: 'another primary key',
    target: 'CREATE TABLE "T" ("Id" int PRIMARY KEY, "V" int)',
    source: 'CREATE TABLE "T" ("Id", "V" INTEGER PRIMARY KEY)',
    fault: { table: 'T', rule: 'primary_key' },
  },
  {
    name: 'keys that differ in case only',
    target: 'CREATE TABLE "T" ("Id" int, "Name" text); CREATE UNIQUE INDEX "ByName" ON "T" (lower("Name"))',
    source: `CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "Name"); INSERT INTO "T" VALUES (3, '${SECRET}'), (9, '${SECRET.toUpperCase()}')`,
    fault: { code: 'transfer.value', table: 'T', rule: 'duplicate_key', rowid: '9', message: /"ByName"/ },
  },
  {
    name: 'a value that a constraint refuses',
    target: 'CREATE TABLE "T" ("Id" int, "V" text CHECK (length("V") < 3))',
    source: `CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "V"); INSERT INTO "T" VALUES (3, 'ok'), (-8, 'a'), (9, '${SECRET}')`,
    fault: { table: 'T', rule: 'constraint', rowid: '9' },
  },
  {
    name: 'an orphan',
    target:
      'CREATE TABLE "P" ("Id" int PRIMARY KEY); CREATE TABLE "T" ("Id" int, "PId" int CONSTRAINT "ToP" REFERENCES "P" ("Id"))',
    source:
      'CREATE TABLE "P" ("Id"); CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "PId"); INSERT INTO "T" VALUES (1, NULL), (12, 99)',
    fault: {
      code: 'transfer.validation',
      stage: 'validation',
      table: 'T',
      column: 'PId',
      rule: 'foreign_key',
      rowid: '12',
      message: /"ToP"/,
    },
  },
  {
    name: 'a row of more than is transferred',
    target: 'CREATE TABLE "T" ("Id" int, "V" varchar(9))',
    source:
      'CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "V"); INSERT INTO "T" VALUES (1, zeroblob(9)), (6, zeroblob(9000000))',
    fault: { code: 'transfer.value', table: 'T', rule: 'too_large', rowid: '6' },
  },
  {
    name: 'a row that is as large by what is computed',
    target: 'CREATE TABLE "T" ("Id" int, "V" varchar(9))',
    source:
      'CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "V" AS (zeroblob("Id" * 1000000))); INSERT INTO "T" VALUES (1), (9)',
    fault: { code: 'transfer.value', table: 'T', rule: 'too_large', rowid: '9' },
  },
  {
    name: 'a row with the last number that the column can hold',
    target: 'CREATE TABLE "T" ("Id" serial PRIMARY KEY)',
    source: 'CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY); INSERT INTO "T" VALUES (2147483647)',
    fault: { code: 'transfer.value', stage: 'import', table: 'T', column: 'Id', rule: 'range' },
  },
  {
    name: 'a number that SQLite has given out and the column cannot hold',
    target: 'CREATE TABLE "T" ("Id" int PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY)',
    source: `CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO "T" VALUES (4294967296);
      DELETE FROM "T"`,
    fault: { code: 'transfer.value', stage: 'import', table: 'T', column: 'Id', rule: 'range' },
  },
];

for (const [index, { name, target, source, fault }] of REFUSALS.entries())
  t.test(name, async t => {
    const database = `refused ${index}`;
    await server.create(database, target);
    const file = sqliteFile(server.directory, `refused-${index}.db`, (db: Database.Database) => db.exec(source));
    const before = await digestOf(file);
    const found = await faultOf(taskOf(server, file, database));
    t.match(found, { label: 'main', ...fault });
    t.notMatch(JSON.stringify(found), new RegExp(`${SECRET}|\\b99\\b`, 'i'), 'no value is told');
    t.equal(await digestOf(file), before);
  });

t.test('many rows are written as if they had always been there, where no other table refers to them', async t => {
  const postgres = await server.create(
    'frozen',
    `CREATE TABLE "Parent" ("Id" int PRIMARY KEY, "V" text);
     CREATE TABLE "Child" ("Id" int PRIMARY KEY, "ParentId" int REFERENCES "Parent" ("Id"), "Next" int REFERENCES "Child" ("Id"))`,
  );
  const file = sqliteFile(server.directory, 'frozen.db', db =>
    db.exec(`
      CREATE TABLE "Parent" ("Id" INTEGER PRIMARY KEY, "V" TEXT);
      CREATE TABLE "Child" ("Id" INTEGER PRIMARY KEY, "ParentId" INTEGER, "Next" INTEGER);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO "Parent" SELECT i, 'row ' || i FROM n;
      INSERT INTO "Child" SELECT "Id", "Id", 20001 - "Id" FROM "Parent"`),
  );
  const { imports } = await run(taskOf(server, file, 'frozen'));
  t.match(imports, [{ rows: 40_000, foreignKeysValidated: 2, fullRowDigestsValidated: 2 }]);
  const { rows } = await postgres.query(
    `SELECT relallvisible > relpages / 2 AS frozen FROM pg_class WHERE relname = 'Child'`,
  );
  t.same(rows, [{ frozen: true }]);
});

t.test('indexes of many rows are built behind them, but for those that a row could break', async t => {
  const tables = `CREATE TABLE "T" ("Id" int PRIMARY KEY, "Name" text, "V" text);
    CREATE INDEX "By V" ON "T" ("V" DESC); CREATE INDEX "Part" ON "T" (lower("V")) WHERE "Id" > 10;
    CREATE UNIQUE INDEX "ByName" ON "T" ("Name"); CLUSTER "T" USING "By V"`;
  const source = `CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "Name" TEXT, "V" TEXT);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO "T" SELECT i, 'name ' || i, (i * 7919) % 20000 || ' of 20000 values in no order' FROM n`;
  const postgres = await server.create('indexed', tables);
  const state = async () => {
    const select = `SELECT indexrelid, indisvalid, indisready, indisclustered, pg_relation_size(indexrelid) > 8192 AS is_filled
      FROM pg_index WHERE indrelid = '"T"'::regclass ORDER BY indexrelid`;
    return (await postgres.query(select)).rows;
  };
  const before = await state();
  await run(
    taskOf(
      server,
      sqliteFile(server.directory, 'indexed.db', db => db.exec(source)),
      'indexed',
    ),
  );
  t.same(
    await state(),
    before.map(index => ({ ...index, is_filled: true })),
  );
  const sizes = async () =>
    (await postgres.query(`SELECT pg_relation_size('"By V"') AS v, pg_relation_size('"Part"') AS part`)).rows;
  const built = await sizes();
  await postgres.query('REINDEX TABLE "T"');
  t.same(await sizes(), built, 'they have not grown row by row');

  const twice = await server.create('indexed twice', tables);
  const file = sqliteFile(server.directory, 'twice.db', db =>
    db.exec(`${source}; UPDATE "T" SET "Name" = 'name 7' WHERE "Id" = 15000`),
  );
  const fault = await faultOf(taskOf(server, file, 'indexed twice'));
  t.match(fault, { rule: 'duplicate_key', table: 'T', rowid: '15000', message: /"ByName"/ });
  const { rows } = await twice.query('SELECT bool_and(indisvalid AND indisready) AS are_whole FROM pg_index');
  t.same(rows, [{ are_whole: true }]);
});

t.test('a row of many that PostgreSQL refuses leaves none of the others', async t => {
  const postgres = await server.create(
    'refused',
    `CREATE DOMAIN small AS int CHECK (VALUE < 15000);
     CREATE TABLE "T" ("Id" int PRIMARY KEY, "V" small)`,
  );
  const file = sqliteFile(server.directory, 'refused.db', db =>
    db.exec(`
      CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "V" INTEGER);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO "T" SELECT i, i FROM n`),
  );
  const fault = await faultOf(taskOf(server, file, 'refused'));
  t.match(fault, { code: 'transfer.value', table: 'T', column: 'V', rule: 'constraint', rowid: '15000' });
  t.same((await postgres.query('SELECT count(*)::int FROM "T"')).rows, [{ count: 0 }]);
});
