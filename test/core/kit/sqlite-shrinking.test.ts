// Database files that an earlier program made, which cannot return the space of removed rows.
import { execFileSync } from 'node:child_process';
import { statfsSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { startDatabaseApp } from '../../support/database-plugin.ts';
import { memoryDir, testDir } from '../../support/directory.ts';
import { ownLog } from '../../support/own-log.ts';

const ROWS = 400;
const ROW_BYTES = 10_000;

/** A file without automatic vacuum of which `removed` rows were removed, and the host whose plugin opens it. */
async function openFormer(t: Test, removed: number, configDir = testDir(t)) {
  const { app, open, file } = await startDatabaseApp(t, configDir);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, length INTEGER)');
  const add = db.prepare('INSERT INTO notes (text, length) VALUES (?, ?)');
  db.transaction(() => {
    for (let row = 0; row < ROWS; row += 1) add.run(String(row).padEnd(ROW_BYTES), row);
  })();
  db.prepare('DELETE FROM notes WHERE id <= ?').run(removed);
  db.pragma('user_version = 2');
  db.close();
  const read = (pragma: string) => {
    const reader = new Database(file, { readonly: true });
    const value = reader.pragma(pragma, { simple: true });
    reader.close();
    return value;
  };
  return { app, open, file, read, before: statSync(file).size };
}

t.test('a file of which most is free is written anew when it is opened', async t => {
  const { app, open, file, read, before } = await openFormer(t, 300);
  const db = open({ canShrink: true });
  t.equal(await db.call('count', undefined), ROWS - 300);
  t.equal(await db.call('check', undefined), 'ok');
  t.match(await db.call('info', undefined), { version: 2, journal: 'wal' });
  t.ok(statSync(file).size < before / 2);
  t.equal(read('auto_vacuum'), 2);
  t.notMatch((await ownLog(app)).join('\n'), /larger than it needs/);
});

t.test('other files stay as they are', async t => {
  for (const [removed, canShrink] of [
    [150, true],
    [300, false],
  ] as const) {
    const { open, file, read, before } = await openFormer(t, removed);
    t.equal(await open({ canShrink }).call('count', undefined), ROWS - removed);
    t.equal(statSync(file).size, before);
    t.equal(read('auto_vacuum'), 0);
  }
});

t.test('a full disk leaves the file as it was', { skip: process.getuid?.() !== 0 && 'needs root' }, async t => {
  const configDir = memoryDir(t);
  const { app, open, file, read, before } = await openFormer(t, 300, configDir);
  execFileSync('mount', ['-o', 'remount,size=32m', configDir]);
  const { bavail, bsize } = statfsSync(configDir);
  await writeFile(path.join(configDir, 'filler'), Buffer.alloc(bavail * bsize - ROWS * 1_000));
  const db = open({ canShrink: true });
  t.equal(await db.call('count', undefined), ROWS - 300);
  t.equal(await db.call('check', undefined), 'ok');
  t.equal(statSync(file).size, before);
  t.equal(read('auto_vacuum'), 0);
  t.match((await ownLog(app)).join('\n'), /notes\.sqlite stays larger than it needs to be: .*full/);
});
