// Log files with one writer: rotated by size and day, and continued whatever others do to them or the disk refuses.
import fs, { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import t, { type Test } from 'tap';
import { formatDay } from '../../../core/kit/log-line.ts';
import { RotatingFile, type RotatingFileOptions } from '../../../core/kit/rotating-file.ts';
import { untilDayIsLong } from '../../support/day.ts';
import { testDir } from '../../support/directory.ts';
import { usingUp } from '../../support/used-up.ts';

const DAY_MS = 86_400_000;

function openFile(options: Partial<RotatingFileOptions> & { file: string }): { file: RotatingFile; warned: string[] } {
  const warned: string[] = [];
  const file = new RotatingFile({
    rotation: () => ({ maxBytes: 20, keep: 2 }),
    warn: message => warned.push(message),
    ...options,
  });
  t.teardown(() => file.close());
  return { file, warned };
}

async function append(file: RotatingFile, text: string): Promise<boolean> {
  const data = Buffer.from(text);
  if (!(await file.prepare(data.length))) return false;
  await file.append(data);
  return true;
}

t.test('a full file is renamed with its day and a number, and only the newest are kept', async t => {
  await untilDayIsLong();
  const today = formatDay(Date.now());
  const dir = testDir(t, { 'app-other.log': 'of another program' });
  const name = path.join(dir, 'app.log');
  const { file } = openFile({ file: name });
  for (const text of ['first line 1\n', 'second line\n', 'third line 3\n', 'fourth\n', 'fifth line 5\n']) {
    t.ok(await append(file, text));
  }
  t.same((await readdir(dir)).sort(), [`app-${today}_1.log`, `app-${today}_2.log`, 'app-other.log', 'app.log'].sort());
  t.equal(await readFile(name, 'utf8'), 'fifth line 5\n');
  t.equal(await readFile(path.join(dir, `app-${today}_1.log`), 'utf8'), 'third line 3\nfourth\n', '1 is the newest');
  t.equal(await readFile(path.join(dir, `app-${today}_2.log`), 'utf8'), 'second line\n', 'the oldest is gone');
  t.equal((await stat(name)).mode & 0o777, 0o640);
  t.equal(file.inode, (await stat(name)).ino);
  t.equal(file.sizeBytes, 13);

  t.ok(await append(file, `${'x'.repeat(50)}\n`), 'a line larger than a file');
  t.equal((await stat(name)).size, 51, 'has a file of its own');
});

/** Has the product take every file for one of another machine, because no test can have a mount of such. */
function pretendRemote(t: Test): void {
  const { readFileSync } = fs;
  const table = `${readFileSync('/proc/self/mountinfo', 'utf8')}1 1 0:1 / / rw - nfs server:/ rw\n`;
  const reading = (...words: Parameters<typeof readFileSync>) =>
    words[0] === '/proc/self/mountinfo' ? table : readFileSync(...words);
  const put = (present: typeof reading) => {
    Object.assign(fs, { readFileSync: present });
    syncBuiltinESMExports();
  };
  t.teardown(() => put(readFileSync));
  put(reading);
}

t.test('a file server whose clock is of another day rotates no log', async t => {
  await untilDayIsLong();
  const today = formatDay(Date.now());
  const dir = testDir(t);
  pretendRemote(t);
  const name = path.join(dir, 'app.log');
  const open = () => openFile({ file: name, rotation: () => ({ maxBytes: 1_000, keep: 2 }) }).file;
  const [one, two] = [open(), open()];
  const add = async (file: RotatingFile, text: string, aheadMs: number) => {
    t.ok(await append(file, text));
    const writtenAt = new Date(Date.now() + aheadMs);
    await utimes(name, writtenAt, writtenAt);
  };
  for (const text of ['one\n', 'two\n', 'three\n', 'four\n', 'five\n']) await add(one, text, DAY_MS);
  await add(two, 'another writer\n', -DAY_MS);
  await add(one, 'six\n', -DAY_MS);
  t.same(await readdir(dir), ['app.log']);
  t.equal(await readFile(name, 'utf8'), 'one\ntwo\nthree\nfour\nfive\nanother writer\nsix\n');

  one.rotate();
  await add(one, 'new\n', -DAY_MS);
  await add(two, 'added\n', -DAY_MS);
  t.same((await readdir(dir)).sort(), [`app-${today}_1.log`, 'app.log'], 'nor the file that another writer has begun');
  const later = open();
  t.ok(await append(later, 'of a new day\n'));
  t.equal(await readFile(name, 'utf8'), 'of a new day\n', 'a first writer has nothing but its time');
});

t.test('a log whose name has no extension keeps its rotated files', async t => {
  await untilDayIsLong();
  const today = formatDay(Date.now());
  const dir = testDir(t);
  const { file } = openFile({ file: path.join(dir, 'app') });
  for (const text of ['first line 1\n', 'second line\n', 'third line 3\n', 'fourth line\n'])
    t.ok(await append(file, text));
  t.same((await readdir(dir)).sort(), ['app', `app-${today}_1`, `app-${today}_2`]);
  t.equal(await readFile(path.join(dir, `app-${today}_1`), 'utf8'), 'third line 3\n');
  t.equal(await readFile(path.join(dir, `app-${today}_2`), 'utf8'), 'second line\n');
});

t.test('files that a clock written ahead has dated are deleted before newer ones', async t => {
  await untilDayIsLong();
  const today = formatDay(Date.now());
  const dir = testDir(t, { 'app-2099-01-01_1.log': 'ahead\n', 'app-2099-01-02_1.log': 'ahead\n' });
  for (const day of ['2099-01-01', '2099-01-02'])
    await utimes(path.join(dir, `app-${day}_1.log`), new Date(day), new Date(day));
  const { file } = openFile({ file: path.join(dir, 'app.log') });
  for (const text of ['first line 1\n', 'second line\n', 'third line 3\n']) t.ok(await append(file, text));
  t.same((await readdir(dir)).sort(), [`app-${today}_1.log`, `app-${today}_2.log`, 'app.log']);
});

const DAYS = ['2025-03-01', '2025-03-02', '2025-03-03', '2025-03-04', '2025-03-05'];

/** The own log of each day, by its name. */
const dated = (name: string) => Object.fromEntries(DAYS.map(day => [`${name}-${day}.log`, `${day}\n`]));

t.test('a new day begins a new file, and only the newest of other days are kept', async t => {
  await untilDayIsLong();
  const today = `Own-${formatDay(Date.now())}.log`;
  const others = { 'Own.log': '', 'Own-2025-03-01.txt': '', 'Own-er-2025-03-01.log': '' };
  const dir = testDir(t, { ...dated('Own'), ...others });
  for (const day of DAYS) await utimes(path.join(dir, `Own-${day}.log`), new Date(day), new Date(day));
  const { file, warned } = openFile({ file: path.join(dir, today), datedName: true });
  t.ok(await append(file, 'a line\n'));
  const kept = ['Own-2025-03-04.log', 'Own-2025-03-05.log', today, ...Object.keys(others)];
  t.same((await readdir(dir)).sort(), kept.sort());
  t.same(warned, []);

  await file.close();
  await writeFile(path.join(dir, 'Own-2025-03-01.log'), '');
  t.ok(await append(file, 'another\n'));
  t.ok(existsSync(path.join(dir, 'Own-2025-03-01.log')), 'a start on the same day looks at nothing');
});

t.test('a file that others move, delete or truncate is created again or continued', async t => {
  const dir = testDir(t);
  const name = path.join(dir, 'sub', 'app.log');
  const { file } = openFile({ file: name, rotation: () => ({ maxBytes: 1_000, keep: 2 }) });
  await append(file, 'one\n');
  await rename(name, `${name}.moved`);
  await append(file, 'two\n');
  t.equal(await readFile(`${name}.moved`, 'utf8'), 'one\n');
  t.equal(await readFile(name, 'utf8'), 'two\n');
  await rm(path.join(dir, 'sub'), { recursive: true });
  await append(file, 'three\n');
  t.equal(await readFile(name, 'utf8'), 'three\n', 'the folder is made again');
  await writeFile(name, '');
  await append(file, 'four\n');
  t.equal(await readFile(name, 'utf8'), 'four\n', 'no hole is left where the cut text was');
  t.equal(file.sizeBytes, 5);
  t.equal(file.droppedBytes, 0);
});

t.test('lines that the disk refuses are counted and reported', { skip: !existsSync('/dev/full') }, async t => {
  const { file, warned } = openFile({ file: '/dev/full' });
  for (let i = 0; i < 3; i++) await append(file, 'lost\n');
  t.equal(file.droppedBytes, 15);
  t.equal(warned.length, 1, 'one warning a minute');
  t.match(warned[0], '5 bytes of log were dropped');

  const dir = testDir(t, { blocked: 'a file, no folder' });
  const blocked = path.join(dir, 'blocked', 'app.log');
  const second = openFile({ file: blocked });
  t.notOk(await append(second.file, 'lost\n'));
  await rm(path.join(dir, 'blocked'));
  t.ok(await append(second.file, 'kept\n'), 'goes on once there is room');
  t.equal(await readFile(blocked, 'utf8'), 'kept\n');
  t.equal(second.file.droppedBytes, 5);
  t.match(second.warned, [/cannot be written; 5 bytes/, /is written again; in all 5 bytes of log were dropped$/]);
  t.ok(await append(second.file, 'kept\n'));
  t.equal(second.warned.length, 2, 'told once');
});

t.test('without a free descriptor lines that may not be dropped wait, and an open log goes on', async t => {
  const dir = testDir(t);
  const found = await usingUp<Record<string, unknown>>(`
    const { RotatingFile } = await load('core/kit/rotating-file.ts')
    const warned = []
    const warn = message => warned.push(message)
    const open = (name, maxBytes) =>
      new RotatingFile({ file: ${JSON.stringify(dir)} + '/' + name, rotation: () => ({ maxBytes, keep: 2 }), warn })
    const [unopened, full] = [open('unopened.log', 1_000), open('full.log', 10)]
    await full.write(Buffer.from('before\\n'))
    useUp(0)
    const refusal = await unopened.prepare(5, { mayDrop: false }).catch(error => error.code)
    const isTaken = await unopened.write(Buffer.from('line\\n'), { mayDrop: false })
    const isFullTaken = await full.write(Buffer.from('meanwhile\\n'), { mayDrop: false })
    release()
    await unopened.write(Buffer.from('line\\n'), { mayDrop: false })
    return { refusal, isTaken, isFullTaken, warned, dropped: [unopened.droppedBytes, full.droppedBytes] }`);
  t.match(found, { refusal: 'EMFILE', isTaken: false, isFullTaken: true, dropped: [0, 0] });
  t.match(found.warned, [
    /unopened\.log cannot be written; its lines wait until a descriptor is free$/,
    /full\.log cannot be rotated and grows$/,
    /unopened\.log is written again$/,
  ]);
  t.equal(await readFile(path.join(dir, 'unopened.log'), 'utf8'), 'line\n');
  t.equal(await readFile(path.join(dir, 'full.log'), 'utf8'), 'before\nmeanwhile\n');
});
