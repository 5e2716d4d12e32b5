// The transferring program needs no more memory for many rows, wide rows and huge values. With STACKWARDEN_TEST_ROUNDS
// there is a value of as many megabytes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { startPostgres } from '../../support/postgres.ts';
import { rounds } from '../../support/rounds.ts';
import { run, sqliteFile, taskOf } from '../../support/transfer.ts';

const MB = 1_000_000;
/**
 * The difference between equal runs, and what fills only once: the page cache, chunks in transit, and their garbage.
 */
const GROWTH_MB = 64;
const HUGE_BYTES = rounds(48) * MB;
const server = await startPostgres(t);

/** The peak resident memory of the program in megabytes. */
async function peakOf(database: string): Promise<number> {
  let peak = 0;
  const known = new Set(children());
  await run(taskOf(server, `${server.directory}/${database}.db`, database), {
    onProgress: () => {
      for (const pid of children().filter(one => !known.has(one)))
        peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0));
    },
  });
  return (peak * 1_024) / MB;
}

function children(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
}

t.test('the memory is the same whatever the rows are', async t => {
  const columns = '"Id" int PRIMARY KEY, "Text" text, "Bytes" bytea, "Json" json';
  const text = 'é😀\t\\'.repeat(MB / 4);
  const json = `["${'y'.repeat(MB)}"]`;
  for (const database of ['few', 'many']) {
    await server.create(database, `CREATE TABLE "T" (${columns})`);
    sqliteFile(server.directory, `${database}.db`, db => {
      db.exec('CREATE TABLE "T" ("Id" INTEGER PRIMARY KEY, "Text" TEXT, "Bytes" BLOB, "Json" TEXT)');
      const insert = db.prepare('INSERT INTO "T" VALUES (?, ?, ?, ?)');
      insert.run(1, 'short', null, '1');
      if (database === 'few') return;
      db.transaction(() => {
        for (let id = 10; id < 10_000; id += 1) insert.run(id, `row ${id} `.repeat(20), null, null);
        for (let id = 20_000; id < 20_010; id += 1) insert.run(id, text.slice(0, MB / 10), Buffer.alloc(MB / 5), null);
        db.prepare('INSERT INTO "T" VALUES (30000, NULL, zeroblob(?), ?)').run(HUGE_BYTES, json);
        insert.run(30_001, text, null, null);
        // With a NUL, and with invalid UTF-8.
        insert.run(30_002, `a\0${text}`, null, null);
        db.prepare('INSERT INTO "T" ("Id", "Text") VALUES (30003, CAST(? AS TEXT))').run(
          Buffer.concat([Buffer.alloc(MB, 'x'), Buffer.from([0xff]), Buffer.alloc(9, 'y')]),
        );
      })();
    });
  }
  const [few, many] = [await peakOf('few'), await peakOf('many')];
  t.ok(many < few + GROWTH_MB, `${many} MB after ${few} MB`);
  const session = await server.session('many');
  const md5 = (value: string | Buffer): string => createHash('md5').update(value).digest('hex');
  const { rows } = await session.query(
    `SELECT md5("Text") AS text, md5("Bytes") AS bytes, md5("Json"::text) AS json FROM "T" WHERE "Id" >= 30000 ORDER BY "Id"`,
  );
  t.same(rows, [
    { text: null, bytes: md5(Buffer.alloc(HUGE_BYTES)), json: md5(json) },
    { text: md5(text), bytes: null, json: null },
    { text: md5(`a${text}`), bytes: null, json: null },
    { text: md5(`${'x'.repeat(MB)}\ufffd${'y'.repeat(9)}`), bytes: null, json: null },
  ]);
});
