// The settings file of a service that is brought back, also when that is repeated after it was cut off, and its
// database when that is damaged.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { backUp, putBackSettings } from '../../../plugins/postgres-migration/backup.ts';
import { findLost, restoreDatabases } from '../../../plugins/postgres-migration/restore.ts';
import { SqliteSources } from '../../../plugins/postgres-migration/sqlite-source.ts';

t.test('the present file is kept by the first of several tries', async t => {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const backup = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  for (const directory of [home, backup]) t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(home, 'config.xml');
  const kept = () => readFile(path.join(backup, 'config.xml.before-rollback'), 'utf8');
  await writeFile(file, 'on SQLite');
  const copied = await backUp(backup, 'config.xml', file, { signal: AbortSignal.any([]) });
  await writeFile(file, 'on PostgreSQL');
  await writeFile(`${file}.123-0123abcd.tmp`, 'what a killed host has left');
  for (let tries = 0; tries < 2; tries += 1) {
    await putBackSettings(backup, copied, { keepsPresent: true });
    t.equal(await readFile(file, 'utf8'), 'on SQLite');
    t.equal(await kept(), 'on PostgreSQL');
  }
  await writeFile(file, 'changed since');
  await putBackSettings(backup, copied, { keepsPresent: true });
  t.equal(await kept(), 'changed since');
  t.same(await readdir(home), ['config.xml']);
});

t.test('a database whose program was killed in a transaction is no damaged one', async t => {
  const home = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  const backup = await mkdtemp(path.join(tmpdir(), 'stackwarden-test-'));
  for (const directory of [home, backup]) t.teardown(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(home, 'app.db');
  const use = (statement: string): unknown[] => {
    const db = new Sqlite(file);
    try {
      const prepared = db.prepare(statement);
      return prepared.reader ? prepared.pluck().all() : [prepared.run()];
    } finally {
      db.close();
    }
  };
  use('CREATE TABLE notes (text TEXT)');
  const { signal } = new AbortController();
  const copied = await backUp(backup, 'sqlite-main.db', file, { signal });
  use("INSERT INTO notes VALUES ('later')");
  const cut = `const db = new (require('better-sqlite3'))(${JSON.stringify(file)})
    db.pragma('cache_size = 1')
    db.exec('BEGIN; CREATE TABLE cut (text TEXT)')
    for (let row = 0; row < 20; row += 1) db.prepare('INSERT INTO cut VALUES (hex(randomblob(5000)))').run()
    process.kill(process.pid, 'SIGKILL')`;
  t.equal(spawnSync(process.execPath, ['-e', cut]).signal, 'SIGKILL');
  const live = { job: { backup_dir: backup }, work: { databases: [{ label: 'main' }], backup: [copied] } };
  const restoring = { subject: { user: null }, live, signal } as never;
  const told: string[] = [];
  const log = { warn: (line: string) => void told.push(line) };
  const context = { sources: new SqliteSources(), host: { log } } as never;
  const restore = async () => restoreDatabases(context, restoring, await findLost(context, restoring));
  await restore();
  t.same(use('SELECT text FROM notes'), ['later']);
  t.same(told, []);
  await writeFile(file, 'damaged');
  await restore();
  t.same(use('SELECT text FROM notes'), [], 'as it was copied');
  t.equal(await readFile(`${file}.damaged`, 'utf8'), 'damaged');
  await rm(file);
  await restore();
  t.same(use('SELECT text FROM notes'), [], 'in the place of a missing one');
  t.equal(told.length, 2);
  await rm(file);
  await mkdir(file);
  await t.rejects(
    restore(),
    /cannot be read: .*; end what keeps it from being read, or move it away .*, then try again$/,
  );
  t.same(await readdir(file), [], 'what cannot be checked stays');
});
