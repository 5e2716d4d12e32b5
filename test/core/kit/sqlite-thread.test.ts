// The database of a plugin: its file, its schema, its calls, and every fault of them.
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { createHost } from '../../../core/host/host.ts';
import { SqliteThread } from '../../../core/kit/sqlite-thread.ts';
import { NOTES, startDatabaseApp } from '../../support/database-plugin.ts';
import { testDir } from '../../support/directory.ts';
import { ownLog, ownLogText } from '../../support/own-log.ts';
import { NOBODY } from '../../support/race.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a database is made for its owner alone, and calls run in order', async t => {
  const { open, file, app } = await startDatabaseApp(t, testDir(t));
  const db = open();
  await t.rejects(stat(file), { code: 'ENOENT' }, 'nothing is made before it is needed');
  const calls = ['a', 'b', 'c'].map(text => db.call('add', { text }));
  t.same(
    await Promise.all([...calls, db.call('count', undefined, { timeoutMs: Number.POSITIVE_INFINITY })]),
    [1, 1, 1, 3],
  );
  t.same(await db.call('info', undefined), {
    version: 2,
    journal: 'wal',
    synchronous: 1,
    // 2 MB.
    cache: -2_000,
    columns: ['id', 'text', 'length'],
  });
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.equal((await stat(`${file}-wal`)).mode & 0o777, 0o600);
  t.equal((await stat(path.dirname(file))).mode & 0o777, 0o700);
  await app.host.stop();
  t.same(await readdir(path.dirname(file)), ['notes.sqlite'], 'closing brings the log into the file');
  await t.rejects(db.call('count', undefined), { status: 503, code: 'database.closed', message: /is closed/ });
});

t.test('no more than 2 MB of pages are kept in memory, whatever their size', async t => {
  const configDir = testDir(t);
  for (const [name, what] of [
    ['first', 'a new file'],
    ['second', 'a known file'],
  ] as const) {
    const { open, app } = await startDatabaseApp(t, configDir, { name });
    const db = open({ file: path.join(configDir, 'notes', 'notes.sqlite'), pageBytes: 16_384 });
    const before = await db.call('spilled', 1_000);
    t.ok((await db.call('spilled', 2_000_000)) > before, `${what}: what exceeds them is written before the end`);
    await app.host.stop();
  }
});

t.test('values pass between threads unchanged, within limits', async t => {
  const { open } = await startDatabaseApp(t, testDir(t));
  const db = open({ maxBytes: 10_000 });
  const value = { big: 2n ** 60n, bytes: new Uint8Array([1, 2, 3]), when: new Date(5), list: [null, undefined, 'é'] };
  t.same(await db.call('echo', value), value);
  await t.rejects(db.call('echo', 'x'.repeat(20_000)), /the arguments of echo are larger than 10000 bytes/);
  await t.rejects(db.call('long', 20_000), /the result of long is larger than 10000 bytes/);
  await t.rejects(db.call('nothing' as never, undefined as never), /has no statement 'nothing'/);
  await db.call('add', { text: 'a' });
  await t.rejects(db.call('add', { text: 'a' }), { message: /UNIQUE/, code: 'SQLITE_CONSTRAINT_UNIQUE' });
  t.equal(await db.call('count', undefined), 1);
});

t.test('rows come in pages of one snapshot, while other calls run', async t => {
  const { open } = await startDatabaseApp(t, testDir(t));
  const db = open();
  const texts = Array.from({ length: 25 }, (_, i) => `text ${i}`);
  for (const text of texts) await db.call('add', { text });
  const seen: string[] = [];
  for await (const text of db.rows('texts', { from: 1 }, { pageRows: 10 })) {
    if (seen.length === 5) await db.call('add', { text: 'meanwhile' });
    seen.push(text);
  }
  t.same(seen, texts);
  for (let round = 0; round < 20; round += 1) {
    for await (const text of db.rows('texts', { from: 26 }, { pageRows: 1 })) {
      t.equal(text, 'meanwhile');
      break;
    }
  }
  t.equal(await db.call('count', undefined), 26, 'whoever stops reading holds nobody up');
  await t.rejects(async () => {
    for await (const text of db.rows('count' as never, undefined as never)) t.fail(String(text));
  }, /cannot be iterated/);
});

t.test('a schema is migrated, and a newer one is left alone', async t => {
  const configDir = testDir(t);
  const old = NOTES.replace("  db => db.exec('ALTER TABLE notes ADD COLUMN length INTEGER'),", '').replace(
    "'INSERT INTO notes (text, length) VALUES (?, ?)').run(text, text.length)",
    "'INSERT INTO notes (text) VALUES (?)').run(text)",
  );
  const first = await startDatabaseApp(t, configDir, { name: 'old', module: old });
  const file = path.join(configDir, 'data', 'shared.sqlite');
  await mkdir(path.dirname(file), { mode: 0o700, recursive: true });
  await first.open({ file }).call('add', { text: 'a' });
  for (const same of [file, `${configDir}/data/./shared.sqlite`])
    t.throws(() => first.open({ file: same }), /is the database of old already/);
  await first.app.host.stop();

  const broken = NOTES.replace('ALTER TABLE notes', 'ALTER TABLE absent');
  const failing = await startDatabaseApp(t, configDir, { name: 'broken', module: broken });
  await t.rejects(failing.open({ file }).open(), /no such table: absent/);
  await failing.app.host.stop();

  const waits = NOTES.replace('db => db.exec(', 'async db => db.exec(');
  const waiting = await startDatabaseApp(t, configDir, { name: 'waiting', module: waits });
  await t.rejects(
    waiting.open({ file }).open(),
    /the migration to version 2 gives a promise; migrations are synchronous/,
  );
  await waiting.app.host.stop();

  const second = await startDatabaseApp(t, configDir, { name: 'new' });
  const db = second.open({ file });
  t.match(await db.call('info', undefined), { version: 2, columns: ['id', 'text', 'length'] });
  t.equal(await db.call('count', undefined), 1);
  await second.app.host.stop();

  const before = await readFile(file);
  const third = await startDatabaseApp(t, configDir, { name: 'older', module: old });
  await t.rejects(third.open({ file }).call('count', undefined), {
    status: 503,
    code: 'database.newer',
    message: /schema version 2, this version knows 1/,
  });
  await third.app.host.stop();
  t.ok(before.equals(await readFile(file)));
  t.same(await readdir(path.dirname(file)), ['shared.sqlite']);
});

t.test('a damaged file is refused or replaced', async t => {
  const garbage = Buffer.alloc(8_192, 'no database ');
  for (const onCorrupt of ['refuse', 'replace'] as const) {
    t.test(`${onCorrupt}: damage that is found at the opening`, async t => {
      const { open, file } = await startDatabaseApp(t, testDir(t));
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await chmod(path.dirname(path.dirname(file)), 0o700);
      await writeFile(file, garbage);
      const db = open({ onCorrupt });
      if (onCorrupt === 'refuse') {
        const wanted = { status: 503, code: 'database.corrupt', message: /is damaged/ };
        await t.rejects(db.call('count', undefined), wanted);
        await t.rejects(db.call('count', undefined), wanted);
        t.ok(garbage.equals(await readFile(file)), 'it is as it was');
        return;
      }
      t.equal(await db.call('count', undefined), 0);
      const aside = (await readdir(path.dirname(file))).filter(name => name.includes('.corrupt-'));
      t.equal(aside.length, 1);
      t.ok(garbage.equals(await readFile(path.join(path.dirname(file), aside[0] ?? ''))));
    });
  }

  t.test('replace: damage that a statement finds', async t => {
    const configDir = testDir(t);
    const first = await startDatabaseApp(t, configDir, { name: 'before' });
    const file = path.join(configDir, 'data', 'shared.sqlite');
    const filled = first.open({ file });
    for (let i = 0; i < 200; i += 1) await filled.call('add', { text: `${i} ${'x'.repeat(100)}` });
    await first.app.host.stop();
    const { size } = await stat(file);
    await truncate(file, 4_096);
    await writeFile(file, Buffer.alloc(size - 4_096, 0xff), { flag: 'a' });

    const { open, app } = await startDatabaseApp(t, configDir, { name: 'after' });
    const db = open({ file, onCorrupt: 'replace' });
    await t.rejects(db.call('count', undefined), { status: 503, code: 'database.corrupt', message: /is damaged/ });
    t.equal(await db.call('count', undefined), 0, 'the next call meets a new one');
    const told = async () => (await ownLogText(path.join(configDir, 'log'))).includes('was damaged; it is kept');
    t.ok(await until(told), 'the log tells');
    await app.host.stop();
  });
});

t.test('a full or unwritable database refuses changes and can still be read', async t => {
  const { open, file } = await startDatabaseApp(t, testDir(t));
  const db = open();
  await db.call('add', { text: 'a' });
  await db.call('limit', 5);
  const fill = async () => {
    for (let i = 0; ; i += 1) await db.call('add', { text: `${i}${'x'.repeat(2_000)}` });
  };
  await t.rejects(fill(), { status: 503, code: 'database.full', message: /free some space/ });
  const count = await db.call('count', undefined);
  await db.call('limit', 1_000);
  await db.call('add', { text: 'with room again' });
  t.equal(await db.call('count', undefined), count + 1, 'nothing of it is lost');

  const reader = open({ file, readOnly: true });
  t.equal(await reader.call('count', undefined), count + 1);
  const refused = { status: 503, code: 'database.read-only', message: /cannot be written/ };
  await t.rejects(reader.call('add', { text: 'b' }), refused);
  await t.rejects(open({ file: `${file}-none`, readOnly: true }).open(), {
    status: 503,
    code: 'database.unusable',
    message: /no such file/,
  });
});

t.test('a file that others could have placed there is not opened', async t => {
  const configDir = testDir(t);
  const outside = path.join(configDir, 'outside');
  await writeFile(outside, '');
  const linked = await startDatabaseApp(t, configDir);
  await mkdir(path.dirname(linked.file), { recursive: true, mode: 0o700 });
  await chmod(path.dirname(path.dirname(linked.file)), 0o700);
  await symlink(outside, linked.file);
  await t.rejects(linked.open().open(), { status: 503, code: 'database.unusable', message: /is a link/ });
  t.equal((await stat(outside)).size, 0);
  await chmod(path.dirname(linked.file), 0o777);
  const shared = linked.host.database('other', { statements: 'notes' });
  await t.rejects(shared.open(), { status: 503, message: /may be written by others/ });
  t.throws(() => linked.host.database('x', { statements: '../../outside' }), /outside the plugin's folder/);
  t.throws(
    () => linked.host.database('x', { statements: 'nots' }),
    /statements of the database x are not there: .*nots\.js/,
  );
});

t.test('a file of another user is not opened', { skip: process.getuid?.() !== 0 && 'needs root' }, async t => {
  const configDir = testDir(t, { foreign: { 'notes.sqlite': '' } });
  const file = path.join(configDir, 'foreign', 'notes.sqlite');
  await chown(file, NOBODY, NOBODY);
  const { open } = await startDatabaseApp(t, configDir);
  await t.rejects(open({ file }).open(), {
    status: 503,
    message: /belongs to user 65534.*make it user 0's, or remove/,
  });
});

t.test('files and modes in a directory that a user names stay as they are', async t => {
  const configDir = testDir(t, { shared: { 'users.json': '{}', 'old.sqlite': 'not a database '.repeat(500) } });
  const shared = path.join(configDir, 'shared');
  await chmod(shared, 0o755);
  await chmod(path.join(shared, 'users.json'), 0o644);
  const { open } = await startDatabaseApp(t, configDir);
  const foreign = open({ file: path.join(shared, 'users.json'), onCorrupt: 'replace' });
  await t.rejects(foreign.open(), {
    status: 503,
    message: /users\.json is no database and stays as it is; name another/,
  });
  t.equal(await readFile(path.join(shared, 'users.json'), 'utf8'), '{}');
  t.equal((await stat(path.join(shared, 'users.json'))).mode & 0o777, 0o644, 'neither moved nor hidden');
  await t.rejects(open({ file: shared }).open(), { status: 503, message: /shared is no regular file/ });

  await open({ file: path.join(shared, 'old.sqlite'), onCorrupt: 'replace' }).call('add', { text: 'a' });
  t.equal((await stat(path.join(shared, 'old.sqlite'))).mode & 0o777, 0o600);
  await open({ file: path.join(shared, 'new', 'notes') }).call('add', { text: 'a' });
  t.equal((await stat(path.join(shared, 'new'))).mode & 0o777, 0o700, 'a new directory is its own');
  t.equal((await stat(shared)).mode & 0o777, 0o755, 'others see what else is there');
  t.ok((await readdir(shared)).some(name => name.startsWith('old.sqlite.corrupt-')));
});

t.test('a late statement, or one that ends the thread, harms no other call', async t => {
  const { app, open } = await startDatabaseApp(t, testDir(t));
  const db = open();
  await db.open();
  const blocking = db.call('block', 1_500, { timeoutMs: 100 });
  const waiting = db.call('add', { text: 'never' }, { timeoutMs: 100 });
  const patient = db.call('count', undefined);
  await t.rejects(blocking, { status: 503, code: 'database.late', message: /did not answer/ });
  await t.rejects(waiting, { status: 503, code: 'database.late', message: /had no turn/ });
  t.equal(await patient, 0, 'what had no turn is not done');
  await t.rejects(db.call('die', undefined), { status: 503, code: 'database.unusable', message: /try again/ });
  await db.call('add', { text: 'after' });
  t.equal(await db.call('count', undefined), 1);

  await db.call('dieLater', undefined);
  await until(async () =>
    (await ownLogText(path.join(app.configDir, 'log'))).includes('notes.sqlite failed between two calls: thrown later'),
  );
  t.equal(await db.call('count', undefined), 1, 'the next call starts it again');
});

t.test('a thread that is stuck is ended, and the next call gets a new one', async t => {
  const root = testDir(t, { 'notes.js': NOTES });
  const told: string[] = [];
  const file = path.join(root, 'notes.sqlite');
  const db = new SqliteThread(
    {
      file,
      root,
      keepModes: true,
      readOnly: false,
      synchronous: 'normal',
      onCorrupt: 'refuse',
      busyTimeoutMs: 100,
      pageBytes: undefined,
      canShrink: false,
      statements: pathToFileURL(path.join(root, 'notes.js')).href,
      maxBytes: 10_000,
    },
    { warn: message => told.push(message), closed: () => undefined, stuckMs: 100 },
  );
  t.teardown(() => db.close());
  await db.call('add', { text: 'kept' });
  const blocking = db.call('spin', undefined, { timeoutMs: 50 });
  const patient = db.call('count');
  await t.rejects(blocking, { status: 503, code: 'database.late' });
  t.equal(await patient, 1);
  t.same(told, [`The database ${file} does not answer; its thread is started again once it has ended`]);
});

t.test('a missing module of statements is logged as a fault of its plugin', async t => {
  const configDir = testDir(t);
  const { app, host, open } = await startDatabaseApp(t, configDir);
  const db = open();
  host.route({ method: 'GET', path: '/count', summary: 'x', handle: () => db.call('count', undefined) });
  await rm(path.join(configDir, 'plugins', 'keeper', 'notes.js'));
  t.match(await app.get('/count'), { status: 500, body: { detail: /Internal error/ } });
  t.match((await ownLog(app)).join('\n'), /keeper: route failed.*Cannot find module '.*notes\.js'/);
});

t.test('a dry run creates no database', async t => {
  const configDir = testDir(t);
  const folder = path.join(configDir, 'plugins', 'looker');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'notes.js'), NOTES);
  await writeFile(
    path.join(folder, 'index.js'),
    `export default { name: 'looker', host: '^1', async setup (host) {
      globalThis.countAtLook = await host.database('notes', { statements: 'notes' }).call('count')
    } }`,
  );
  await writeFile(path.join(configDir, 'stackwarden.json'), '{}');
  const host = await createHost({ configDir, plugins: ['looker'], dryRun: true, ownsProcess: false });
  t.match(
    host.plugins().find(plugin => plugin.name === 'looker'),
    { state: 'ready' },
  );
  await host.stop();
  t.equal((globalThis as { countAtLook?: number }).countAtLook, 0);
  t.notOk((await readdir(configDir)).includes('data'));
});

t.test('answered writes survive a SIGKILL, and only the first call loads SQLite', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const folder = path.join(configDir, 'plugins', 'notes');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'notes.js'), NOTES);
  await writeFile(
    path.join(folder, 'index.js'),
    `let z
    export default { name: 'notes', host: '^1', config: zod => { z = zod; return z.object({}) }, setup (host) {
      const db = host.database('notes', { statements: 'notes' })
      const body = z.object({ text: z.string() })
      host.route({ method: 'POST', path: '/notes', summary: 'x', body, handle: async ({ body }) => ({ added: await db.call('add', body) }) })
      host.route({ method: 'GET', path: '/notes', summary: 'x', handle: async () => {
        const texts = []
        for await (const text of db.rows('texts', { from: 0 })) texts.push(text)
        return { texts }
      } })
    } }`,
  );
  const options = { args: ['start', '--plugins', 'notes,host-plugins'] };
  const first = await startStackwarden(configDir, port, options);
  t.teardown(() => first.child.kill('SIGKILL'));
  const maps = () => readFile(`/proc/${first.child.pid}/maps`, 'utf8');
  t.notMatch(await maps(), /better_sqlite3/);
  const texts = Array.from({ length: 50 }, (_, i) => `note ${i}`);
  for (const text of texts) {
    const answer = await fetch(`${first.base}/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
    if (!answer.ok) t.fail(await answer.text());
  }
  t.match(await maps(), /better_sqlite3/);
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await startStackwarden(configDir, port, options);
  t.teardown(async () => {
    second.child.kill('SIGTERM');
    await second.exited;
  });
  t.same(await (await fetch(`${second.base}/notes`)).json(), { texts });
});

t.test('an endless statement delays neither the next load nor the end of the host', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const folder = path.join(configDir, 'plugins', 'endless');
  await mkdir(folder, { recursive: true });
  // SQLite waits for a lock that its own thread holds. Nothing can interrupt that, and it needs no processor time.
  await writeFile(
    path.join(folder, 'statements.js'),
    `export const endless = db => {
      db.exec('BEGIN IMMEDIATE')
      new db.constructor(db.name, { timeout: 2 ** 31 - 1 }).exec('BEGIN IMMEDIATE')
    }`,
  );
  const source = (turn: number) => `export default { name: 'endless', host: '^1', setup (host) {
    const db = host.database('notes', { statements: 'statements' })
    host.route({ method: 'GET', path: '/turn', summary: 'x', handle: () => ({ turn: ${turn} }) })
    host.route({ method: 'POST', path: '/endless', summary: 'x', handle: () => db.call('endless', undefined, { timeoutMs: 200 }) })
  } }`;
  await writeFile(path.join(folder, 'index.js'), source(1));
  const running = await startStackwarden(configDir, port, { args: ['start', '--plugins', 'endless,host-plugins'] });
  t.teardown(() => running.child.kill('SIGKILL'));
  const late = await fetch(`${running.base}/endless`, { method: 'POST' });
  t.equal(late.status, 503);
  t.match(await late.json(), { detail: /did not answer within 200 ms/ });

  await writeFile(path.join(folder, 'index.js'), source(2));
  const row = await until(async () => {
    const { plugins } = (await (await fetch(`${running.base}/host/plugins`)).json()) as {
      plugins: { name: string; state: string; reason: string | null }[];
    };
    return plugins.find(({ name, state }) => name === 'endless' && state === 'failed');
  });
  t.match(row.reason, /is still the database of an earlier load of endless, whose last call has not ended/);

  running.child.kill('SIGTERM');
  t.same(await running.exited, { code: null, signal: 'SIGKILL' });
  t.match(running.stdout(), /Stackwarden .* has stopped/);
});

t.test('a plugin whose database an earlier load still has is set up when the last call of that has ended', async t => {
  const configDir = testDir(t);
  const port = await writeConfig(configDir);
  const folder = path.join(configDir, 'plugins', 'waiting');
  await mkdir(folder, { recursive: true });
  const fifo = path.join(configDir, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // A thread that opens a FIFO cannot be ended before the other side is opened.
  const statements = `import { readFileSync } from 'node:fs'
    export const wait = () => readFileSync(${JSON.stringify(fifo)}, 'utf8')`;
  await writeFile(path.join(folder, 'statements.js'), statements);
  const source = (turn: number) => `export default { name: 'waiting', host: '^1', setup (host) {
    const db = host.database('notes', { statements: 'statements' })
    host.route({ method: 'GET', path: '/turn', summary: 'x', handle: () => ({ turn: ${turn} }) })
    host.route({ method: 'POST', path: '/wait', summary: 'x', handle: () => db.call('wait', undefined, { timeoutMs: 200 }) })
  } }`;
  await writeFile(path.join(folder, 'index.js'), source(1));
  const running = await startStackwarden(configDir, port, { args: ['start', '--plugins', 'waiting,host-plugins'] });
  t.teardown(async () => {
    running.child.kill('SIGKILL');
    await running.exited;
  });
  t.equal((await fetch(`${running.base}/wait`, { method: 'POST' })).status, 503);
  await writeFile(path.join(folder, 'index.js'), source(2));
  const becomes = (wanted: string) =>
    until(
      async () => {
        const { plugins } = (await (await fetch(`${running.base}/host/plugins`)).json()) as {
          plugins: { name: string; state: string }[];
        };
        return plugins.some(({ name, state }) => name === 'waiting' && state === wanted);
      },
      { what: wanted },
    );
  await becomes('failed');
  await writeFile(fifo, 'over');
  await becomes('ready');
  t.same(await (await fetch(`${running.base}/turn`)).json(), { turn: 2 });
});
