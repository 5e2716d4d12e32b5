// A third party's plugin with a database: notes, and statements that misbehave.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseOptions, SqliteDatabase } from '../../core/contract/database.ts';
import type { Host } from '../../core/contract/host.ts';
import { startHost } from './host.ts';

/** The types of the statements in `NOTES`. */
export interface Notes {
  add(db: SqliteDatabase, note: { text: string }): number;
  count(db: SqliteDatabase): number;
  texts(db: SqliteDatabase, range: { from: number }): Iterable<string>;
  echo(db: SqliteDatabase, value: unknown): unknown;
  info(db: SqliteDatabase): { version: number; journal: string; synchronous: number; cache: number; columns: string[] };
  limit(db: SqliteDatabase, pages: number): void;
  /**
   * Adds notes of so many bytes without a commit, and returns the size of the write-ahead log. An index holds them
   * again.
   */
  spilled(db: SqliteDatabase, bytes: number): number;
  check(db: SqliteDatabase): string;
  /** Waits without processor time. */
  block(db: SqliteDatabase, ms: number): void;
  spin(db: SqliteDatabase): void;
  die(db: SqliteDatabase): void;
  dieLater(db: SqliteDatabase): void;
  long(db: SqliteDatabase, length: number): string;
}

export const NOTES = `
import { statSync } from 'node:fs'
export const migrations = [
  'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)',
  db => db.exec('ALTER TABLE notes ADD COLUMN length INTEGER'),
]
export const add = (db, { text }) =>
  db.prepare('INSERT INTO notes (text, length) VALUES (?, ?)').run(text, text.length).changes
export const count = db => db.prepare('SELECT count(*) FROM notes').pluck().get()
export const texts = (db, { from }) => db.prepare('SELECT text FROM notes WHERE id >= ? ORDER BY id').pluck().iterate(from)
export const echo = (db, value) => value
export const info = db => ({
  version: db.pragma('user_version', { simple: true }),
  journal: db.pragma('journal_mode', { simple: true }),
  synchronous: db.pragma('synchronous', { simple: true }),
  cache: db.pragma('cache_size', { simple: true }),
  columns: db.pragma('table_info(notes)').map(column => column.name),
})
export const limit = (db, pages) => { db.pragma('max_page_count = ' + pages) }
export const spilled = (db, bytes) => {
  db.exec('BEGIN')
  try {
    for (let number = 0; number < bytes / 1_000; number += 1) add(db, { text: String(number).padEnd(1_000) })
    return statSync(db.name + '-wal').size
  } finally {
    db.exec('ROLLBACK')
  }
}
export const check = db => db.pragma('integrity_check', { simple: true })
export const block = (db, ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
export const spin = () => { for (;;); }
export const die = () => process.exit(3)
export const dieLater = () => { setTimeout(() => { throw new Error('thrown later') }, 5) }
export const long = (db, length) => 'x'.repeat(length)
`;

/** Starts a host whose plugin `name` does nothing by itself; the test calls its `host`. */
export async function startDatabaseApp(
  t: Pick<typeof import('tap')['t'], 'name' | 'teardown'>,
  configDir: string,
  { name = 'keeper', module = NOTES } = {},
) {
  const place = `host of ${t.name} ${name}`;
  const folder = path.join(configDir, 'plugins', name);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    `export default { name: '${name}', host: '^1', setup (host) { globalThis[${JSON.stringify(place)}] = host } }`,
  );
  await writeFile(path.join(folder, 'notes.js'), module);
  const app = await startHost({ configDir, config: {}, plugins: [name] });
  t.teardown(() => app.stop());
  const host = (globalThis as unknown as Record<string, Host>)[place] as Host;
  return {
    app,
    host,
    /** Where the database `notes` lies unless the options say otherwise. */
    file: path.join(configDir, 'data', name, 'notes.sqlite'),
    open: (options: Partial<DatabaseOptions> = {}) =>
      host.database<Notes>('notes', { statements: 'notes', ...options }),
  };
}
