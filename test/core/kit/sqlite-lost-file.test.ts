// The file of a database that is taken from its place while it is open: what is there instead is used at once.
import { copyFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { startDatabaseApp } from '../../support/database-plugin.ts';
import { testDir } from '../../support/directory.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

for (const what of ['the file', 'all files', 'the directory'])
  t.test(`${what} of a database removed while it is open`, async t => {
    const configDir = testDir(t);
    const file = path.join(configDir, 'data', 'shared', 'notes.sqlite');
    const { open, app } = await startDatabaseApp(t, configDir, { name: 'before' });
    const db = open({ file });
    for (const text of ['a', 'b']) await db.call('add', { text });
    const rows = db.rows('texts', { from: 0 }, { pageRows: 1 })[Symbol.asyncIterator]();
    t.equal((await rows.next()).value, 'a');
    if (what === 'the directory') await rm(path.dirname(file), { recursive: true });
    else for (const end of what === 'the file' ? [''] : ['', '-wal', '-shm']) await rm(file + end);
    t.equal(await db.call('count', undefined), 2, 'rows that are being read come to their end');
    t.equal((await rows.next()).value, 'b');
    t.equal((await rows.next()).done, true);
    const count = () => db.call('count', undefined);
    t.ok(await until(async () => (await count()) === 0, { what: 'a new file' }), 'no call fails');
    t.equal(await db.call('add', { text: 'c' }), 1);
    const again: string[] = [];
    for await (const text of db.rows('texts', { from: 0 })) again.push(text);
    t.same(again, ['c'], 'a second connection meets the same file');
    t.match((await ownLog(app)).join('\n'), /The database .+notes\.sqlite was removed; a new one is made/);
    await app.host.stop();
    const next = await startDatabaseApp(t, configDir, { name: 'after' });
    t.equal(await next.open({ file }).call('count', undefined), 1, 'what was written since is kept');
    await next.app.host.stop();
  });

for (const what of ['the file', 'the file and its log'])
  t.test(`${what} of a database replaced while it is open`, async t => {
    const configDir = testDir(t);
    const { open, app, file } = await startDatabaseApp(t, configDir);
    const other = await startDatabaseApp(t, path.join(configDir, 'other'), { name: 'other' });
    const source = other.open();
    for (const text of ['x', 'y', 'z']) await source.call('add', { text });
    const ends = what === 'the file' ? [''] : ['', '-wal'];
    if (what === 'the file') await other.app.host.stop();
    const db = open();
    await db.call('add', { text: 'a' });
    for (const end of ends) await copyFile(other.file + end, `${file}.copy${end}`);
    const rows = db.rows('texts', { from: 0 }, { pageRows: 1 })[Symbol.asyncIterator]();
    t.equal((await rows.next()).value, 'a');
    for (const end of ends.toReversed()) await rename(`${file}.copy${end}`, file + end);
    const second = db.rows('texts', { from: 0 })[Symbol.asyncIterator]();
    await t.rejects(second.next(), { status: 503, message: /was replaced while it was read; try again/ });
    t.equal((await rows.next()).done, true, 'rows that are being read come to their end');
    const texts: string[] = [];
    for await (const text of db.rows('texts', { from: 0 })) texts.push(text);
    t.same(texts, ['x', 'y', 'z'], 'the other database as it was, without anything of the former one');
    await db.call('add', { text: 'after' });
    t.equal(await db.call('check', undefined), 'ok');
    t.match((await ownLog(app)).join('\n'), /notes\.sqlite was replaced; the file in its place is used from now on/);
    await app.host.stop();
    const next = await startDatabaseApp(t, configDir, { name: 'after' });
    t.equal(await next.open({ file }).call('count', undefined), 4, 'what was written since is kept');
    await next.app.host.stop();
  });

t.test('a database file replaced while another process reads the former one', async t => {
  const { open, app, file } = await startDatabaseApp(t, testDir(t));
  const db = open({ busyTimeoutMs: 3_600_000 });
  await db.call('add', { text: 'a' });
  const reader = new Database(file, { readonly: true });
  t.teardown(() => reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM sqlite_master').get();
  await db.call('add', { text: 'b' });
  await copyFile(file, `${file}.copy`);
  await rename(`${file}.copy`, file);
  // A request for rows looks for the file each time.
  const refused = db.rows('texts', { from: 0 })[Symbol.asyncIterator]().next();
  await t.rejects(refused, { status: 503, message: /was replaced while it was read; try again/ });
  t.equal(await db.call('count', undefined), 2, 'the former one is used, and no call waits for the reader');
  reader.exec('COMMIT');
  const count = () => db.call('count', undefined);
  t.ok(await until(async () => (await count()) === 0, { what: 'the new file' }));
  await app.host.stop();
});
