// Rows read from the pages of a file are those that SQLite gives, whatever the sizes of pages, rows and values.
import { closeSync, openSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { Pages } from '../../../plugins/postgres-migration/transfer/pages.ts';
import { StoredRows } from '../../../plugins/postgres-migration/transfer/stored-rows.ts';
import { testDir } from '../../support/directory.ts';
import { rounds } from '../../support/rounds.ts';
import { sqliteFile } from '../../support/transfer.ts';

const rows = fc.uniqueArray(
  fc.record({
    rowid: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -300n, max: 300n })),
    number: fc.oneof(fc.constant(null), fc.double({ noNaN: true }), fc.integer()),
    bytes: fc.nat(70_000),
  }),
  { minLength: 1, maxLength: 300, selector: ({ rowid }) => rowid },
);

t.test('each value from the pages equals that of SQLite', async t => {
  const directory = testDir(t, {});
  let file = 0;
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(512, 1_024, 4_096, 65_536), fc.nat(2), async (given, pageBytes, others) => {
      file += 1;
      const place = sqliteFile(directory, `${file}.db`, db => {
        db.pragma(`page_size = ${pageBytes}`);
        for (let other = 0; other < others; other += 1) db.exec(`CREATE TABLE other${other} (a)`);
        // A computed column that is not stored.
        db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, n, c AS (n), b BLOB, v TEXT)');
        const insert = db.prepare('INSERT INTO t (id, n, b, v) VALUES (?, ?, ?, ?)');
        db.transaction(() => {
          for (const { rowid, number, bytes } of given)
            insert.run(rowid, number, Buffer.alloc(bytes, `${rowid}`), `é${bytes}`.repeat(bytes / 10));
        })();
      });
      sqliteFile(directory, `${file}.db`, db => {
        const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 't'").pluck().get() as number;
        const fd = openSync(place, 'r');
        const stored = new StoredRows(new Pages(fd), root);
        const read = (rowid: bigint, column: number) => {
          const value = stored.value(rowid, column);
          const bytes = Buffer.concat([...value.pieces()]);
          if (bytes.length !== value.bytes || value.isText !== (column === 3)) throw new Error('not what was said');
          return bytes;
        };
        const select = db.prepare('SELECT b, CAST(v AS BLOB) FROM t WHERE id = ?').raw();
        for (const { rowid } of given) {
          const [bytes, text] = select.get(rowid) as [Buffer, Buffer];
          if (!read(rowid, 2).equals(bytes) || !read(rowid, 3).equals(text)) throw new Error(`row ${rowid} differs`);
        }
        t.throws(() => stored.value(2n ** 62n + 5n, 2), /row 4611686018427387909/);
        closeSync(fd);
      });
    }),
    { numRuns: rounds(6), endOnFailure: true },
  );
});
