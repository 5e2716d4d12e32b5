// A server that hangs, breaks off, speaks another protocol, answers for ever or says what nobody may hear: each ends
// the transfer with a sentence, and nothing of what it says is repeated.
import t from 'tap';
import { serverFault } from '../../../plugins/postgres-migration/transfer/server-fault.ts';
import { Target } from '../../../plugins/postgres-migration/transfer/target.ts';
import { startPostgres } from '../../support/postgres.ts';
import { message, type ServerFault, sendForEver, startProxy } from '../../support/postgres-proxy.ts';
import { faultOf, run, sqliteFile, taskOf } from '../../support/transfer.ts';

const SECRET = 'never-told';
/** Long enough for each answer of a server that works. */
const ANSWER_MS = 4_000;
const FOR_EVER = 2 ** 31 - 1;
const PLACE = { stage: 'import', label: 'main' } as const;
const WIDE = Buffer.alloc(64 * 1_024, `${SECRET}\n`);
const server = await startPostgres(t);
await server.create('one', 'CREATE TABLE "T" ("Id" int PRIMARY KEY, "V" text)');

interface Case extends ServerFault {
  readonly name: string;
  readonly work: 'query' | 'copyIn' | 'copyOut';
  /** What the sentence says. */
  readonly says: RegExp;
}

/** An error whose every field is a text; the code is not. */
const error = (code: string): Buffer => {
  const fields = [...'MDHWsctdnFR'].map(field => `${field}COPY "T", line 1, column V: "${SECRET}"\0`);
  return message('E', `SERROR\0VERROR\0C${code}\0${fields.join('')}\0`);
};
const READY = message('Z', 'I');

const CASES: readonly Case[] = [
  { name: 'hangs before rows', work: 'copyIn', at: 'G', send: () => undefined, says: /does not answer/ },
  {
    name: 'hangs among rows',
    work: 'copyIn',
    at: 'G',
    send: (client, held) => client.write(held),
    says: /does not answer/,
  },
  {
    name: 'breaks off among rows',
    work: 'copyIn',
    at: 'G',
    send: (client, held) => client.write(held, () => client.resetAndDestroy()),
    says: /connection|closed/,
  },
  {
    name: 'speaks HTTP',
    work: 'copyIn',
    at: 'G',
    send: client => client.end(`HTTP/1.1 200 OK\r\n\r\n${SECRET}`.repeat(100)),
    says: /connection was lost/,
  },
  {
    name: 'sends one message for ever while it gets rows',
    work: 'copyIn',
    at: 'G',
    send: (client, held) => {
      client.write(Buffer.concat([held, message('N', '', FOR_EVER)]));
      client.resume();
      return sendForEver(client, WIDE);
    },
    says: /more than was asked for/,
  },
  {
    name: 'sends notices for ever while it gets rows',
    work: 'copyIn',
    at: 'G',
    send: (client, held) => {
      client.write(held);
      return sendForEver(client, message('N', `SNOTICE\0C00000\0M${WIDE}\0\0`));
    },
    says: /more than was asked for/,
  },
  {
    name: 'refuses rows in words that hold them',
    work: 'copyIn',
    at: 'G',
    send: client => client.write(Buffer.concat([error('XX000'), READY])),
    says: /it failed \(XX000\)/,
  },
  {
    name: 'has a code that is a text',
    work: 'copyIn',
    at: 'G',
    send: client => client.write(Buffer.concat([error(`${SECRET} in a code`), READY])),
    says: /unknown code/,
  },
  {
    name: 'has a code that every object has',
    work: 'copyIn',
    at: 'G',
    send: client => client.write(Buffer.concat([error('constructor'), READY])),
    says: /it failed \(constructor\)/,
  },
  { name: 'hangs before an answer', work: 'query', at: 'T', send: () => undefined, says: /does not answer/ },
  {
    name: 'answers for ever',
    work: 'query',
    at: 'D',
    send: (client, held) => sendForEver(client, held.subarray(0, held.readUInt32BE(1) + 1)),
    says: /more than was asked for/,
  },
  { name: 'hangs among rows that come back', work: 'copyOut', at: 'd', send: () => undefined, says: /does not answer/ },
  {
    name: 'breaks off among rows that come back',
    work: 'copyOut',
    at: 'd',
    send: client => client.resetAndDestroy(),
    says: /connection|closed/,
  },
  {
    name: 'fails among rows that come back',
    work: 'copyOut',
    at: 'd',
    send: client => client.write(Buffer.concat([error('22P02'), READY])),
    says: /22P02/,
  },
];

async function* rows(): AsyncGenerator<Uint8Array> {
  for (let id = 1; id <= 2_000; id += 1) yield Buffer.from(`${id}\t${'x'.repeat(10_000)}\n`);
}

const WORK: Readonly<Record<Case['work'], (target: Target) => Promise<unknown>>> = {
  query: target => target.query("SELECT repeat('x', 60000) FROM generate_series(1, 9)"),
  copyIn: target => target.copyIn('COPY "T" FROM STDIN', rows()),
  copyOut: target => target.copyOut('COPY (SELECT generate_series(1, 10)) TO STDOUT', () => undefined),
};

t.test('whatever it does, there is an end', async t => {
  const found = await Promise.all(
    CASES.map(async ({ work, ...fault }) => {
      const task = {
        ...taskOf(server, '', 'one'),
        server: await startProxy(t, server.access, fault),
        answerMs: ANSWER_MS,
      };
      const target = await Target.connect(task, { label: 'main', file: '', database: 'one', leftOut: [] });
      try {
        return await WORK[work](target).catch((cause: unknown) => serverFault(cause, PLACE).fault);
      } finally {
        await target.close();
      }
    }),
  );
  for (const [index, { name, says }] of CASES.entries()) {
    t.match(found[index], { code: 'transfer.server', ...PLACE, message: says }, name);
    t.notMatch(JSON.stringify(found[index]), SECRET, name);
  }
});

const file = sqliteFile(server.directory, 'one.db', db => {
  db.exec('CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "V" TEXT)');
  const insert = db.prepare('INSERT INTO "T" ("V") VALUES (?)');
  for (let row = 0; row < 100; row += 1) insert.run(SECRET);
});

t.test('a table that hangs is named', async t => {
  const access = await startProxy(t, server.access, { at: 'G', send: () => undefined });
  const found = await faultOf({ ...taskOf(server, file, 'one'), server: access, answerMs: ANSWER_MS });
  t.match(found, { code: 'transfer.server', stage: 'import', table: 'T', message: /does not answer/ });
});

t.test('rows that come back for ever', async t => {
  const send: ServerFault['send'] = (client, held) => sendForEver(client, held.subarray(0, held.readUInt32BE(1) + 1));
  const access = await startProxy(t, server.access, { at: 'd', send });
  const found = await faultOf({ ...taskOf(server, file, 'one'), server: access });
  t.match(found, { code: 'transfer.validation', table: 'T', rule: 'row_digest', message: /more than was sent/ });
});

t.test('a row that is another afterwards', async t => {
  const postgres = await server.create(
    'changed',
    `CREATE TABLE "T" ("Id" int PRIMARY KEY, "V" text);
     CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW."V" := reverse(NEW."V"); RETURN NEW; END $$;
     CREATE TRIGGER change BEFORE INSERT ON "T" FOR EACH ROW WHEN (NEW."Id" = 50) EXECUTE FUNCTION change();
     ALTER TABLE "T" ENABLE ALWAYS TRIGGER change`,
  );
  const found = await faultOf(taskOf(server, file, 'changed'));
  t.match(found, {
    code: 'transfer.validation',
    table: 'T',
    rule: 'row_digest',
    message: /differs from what was sent/,
  });
  t.notMatch(JSON.stringify(found), SECRET);
  t.equal((await postgres.query('SELECT count(*)::int FROM "T"')).rows[0].count, 100);
});

t.test('rows that have moved', async t => {
  const postgres = await server.create(
    'moved',
    `CREATE TABLE "T" ("Id" int PRIMARY KEY, "V" text);
     CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN UPDATE "T" SET "V" = "V" WHERE "Id" < 9; RETURN NULL; END $$;
     CREATE TRIGGER move AFTER INSERT ON "T" FOR EACH STATEMENT EXECUTE FUNCTION move();
     ALTER TABLE "T" ENABLE ALWAYS TRIGGER move`,
  );
  const { imports } = await run(taskOf(server, file, 'moved'));
  t.match(imports, [{ rows: 100, fullRowDigestsValidated: 1 }]);
  const { rows } = await postgres.query('SELECT "Id" FROM "T" ORDER BY ctid LIMIT 1');
  t.same(rows, [{ Id: 9 }], 'they do not stand where they were written');
});
