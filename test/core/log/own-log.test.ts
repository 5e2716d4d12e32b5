// The host's own log: what is redacted from lines, their form and levels, and the files they are written to.
import fs, { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { LogLine } from '../../../core/contract/log.ts';
import { findLevel, parseLevel, passes } from '../../../core/kit/log-level.ts';
import { formatDay, formatLine, formatRecord } from '../../../core/kit/log-line.ts';
import { redact } from '../../../core/kit/redact.ts';
import { RotatingFile, type RotatingFileOptions } from '../../../core/kit/rotating-file.ts';
import { createLogging, type LoggingOptions } from '../../../core/log/own-log.ts';
import { untilDayIsLong } from '../../support/day.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { usingUp } from '../../support/used-up.ts';

t.test('secrets are redacted, and ordinary text is not', async t => {
  const secrets: [text: string, redacted: string][] = [
    ['Authorization: Digest abc def', 'Authorization: [REDACTED]'],
    ['"proxy-authorization": "x"', '"proxy-authorization": [REDACTED]'],
    ['Set-Cookie: sid=1; Path=/', 'Set-Cookie: [REDACTED]'],
    ['X-Plex-Token: abc', 'X-Plex-Token: [REDACTED]'],
    ['x-api-key=abc', 'x-api-key=[REDACTED]'],
    ['sent Bearer abcdef.ghi', 'sent Bearer [REDACTED]'],
    ['sent basic dXNlcjpwYXNz', 'sent basic [REDACTED]'],
    ['GET /a?apikey=1234&page=2', 'GET /a?apikey=[REDACTED]&page=2'],
    ['GET /cb?code=xyz#top', 'GET /cb?code=[REDACTED]#top'],
    ['GET /a?page=1&X-Plex-Token=t', 'GET /a?page=1&X-Plex-Token=[REDACTED]'],
    ['"GET /a?X-Plex-Token=t HTTP/1.1" 200 17', '"GET /a?X-Plex-Token=[REDACTED] HTTP/1.1" 200 17'],
    ['/a?x-api-key=k&page=2 answers 500', '/a?x-api-key=[REDACTED]&page=2 answers 500'],
    ['postgres://bob:hunter2@db:5432/x', 'postgres://[REDACTED]@db:5432/x'],
    ['a+b://:only@redis', 'a+b://[REDACTED]@redis'],
    ['password: hunter2, retries: 3', 'password: [REDACTED], retries: 3'],
    ['{"api_key": "a \\" b", "n": 1}', '{"api_key": [REDACTED], "n": 1}'],
    ["client_secret='it is'", 'client_secret=[REDACTED]'],
    ['MY_ACCESS_TOKEN=abc', 'MY_ACCESS_TOKEN=[REDACTED]'],
    ['refresh token : abc', 'refresh token : [REDACTED]'],
    ['tunnel run --token abc', 'tunnel run --token [REDACTED]'],
    ['run --tunnel-token=abc', 'run --tunnel-token=[REDACTED]'],
    ['got eyJhbGciOiJI.eyJzdWIiOi.c2ln', 'got [REDACTED]'],
    ['mail from jo.doe+x@mail.example.org.', 'mail from [REDACTED].'],
    ['machineIdentifier="ab12"', 'machineIdentifier=[REDACTED]'],
    ['device_id: 77', 'device_id: [REDACTED]'],
    ['plex username: bob', 'plex username: [REDACTED]'],
  ];
  for (const [text, redacted] of secrets) {
    t.equal(redact(text), redacted, text);
    t.equal(redact(redacted), redacted, `${text}, twice`);
  }
  const harmless = [
    'tokens used: 5',
    'tokenizer: fast',
    'the password was changed',
    'passwordless: yes',
    'mytoken: 5',
    'GET /a?codec=h264&page=2',
    'http://localhost:8080/a@b',
    'server started at 10:04:01',
    'device: sda1',
    'user@localhost',
    'config_key: sonarr',
    'secretary = Ann',
    'keyboard=qwerty',
  ];
  for (const text of harmless) t.equal(redact(text), text, text);
});

t.test('the time to redact grows no faster than the length of the text', async t => {
  const shapes = ['a-', 'a.', 'a+', 'x-', 'eyJ-', 'token-', 'a@', 'password="', ' --a', '://', '?', '\\"', 'bearer '];
  for (const shape of shapes) {
    const text = `user token @ ${shape.repeat(65_536 / shape.length)}`;
    const start = process.cpuUsage();
    redact(text);
    const { user } = process.cpuUsage(start);
    // A pattern that scans the rest of the line at each place needs several seconds here; the others some hundredths.
    t.ok(user < 2_000_000, `${shape} repeated`);
  }
});

t.test('levels are read from the words of other programs', async t => {
  for (const [word, level] of [
    ['warn', 'WARNING'],
    [' Trace ', 'DEBUG'],
    ['notice', 'INFO'],
    ['log', 'INFO'],
    ['FATAL', 'CRITICAL'],
    ['Error', 'ERROR'],
  ] as const) {
    t.equal(findLevel(word), level);
  }
  for (const word of ['', 'loud', 'constructor', '__proto__']) {
    t.equal(findLevel(word), undefined);
    t.equal(parseLevel(word), 'INFO');
  }
  t.ok(passes('WARNING', 'WARNING'));
  t.ok(passes('CRITICAL', 'ERROR'));
  t.notOk(passes('DEBUG', 'INFO'));
});

t.test('a line begins with its time and level', async t => {
  t.equal(formatLine(new Date(2025, 3, 2, 10, 4, 1).getTime(), 'INFO', 'a - b'), 'Apr 2, 2025 10:04:01 - INFO - a - b');
  t.equal(formatLine(new Date(2025, 11, 31, 23, 59, 9).getTime(), 'ERROR', 'x'), 'Dec 31, 2025 23:59:09 - ERROR - x');
  t.equal(formatDay(new Date(2025, 0, 5).getTime()), '2025-01-05');
});

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

t.test('while the configuration cannot be used, the files of all days are kept', async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{ "dumb": { "log_count": 30 },', log: dated('DUMB') });
  const app = await startHost({ configDir, plugins: ['config'] });
  t.teardown(() => app.stop());
  await ownLog(app);
  const names = await readdir(path.join(configDir, 'log'));
  t.same(
    DAYS.filter(day => !names.includes(`DUMB-${day}.log`)),
    [],
  );
  t.ok(names.length > DAYS.length, 'beside a new one');
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

t.test('a line after the end does not create the file again', async t => {
  const directory = path.join(testDir(t), 'log');
  const settings = {
    logLevel: 'INFO',
    httpLogLevel: 'INFO',
    maxBytes: 1e6,
    keep: 2,
    color: false,
    format: 'text',
    milliseconds: false,
  } as const;
  const logging = await createLogging({
    directory,
    name: 'Own',
    stdout: false,
    owner: () => null,
    settings: () => settings,
  });
  const log = logging.logger('part');
  log.info('the last one');
  await logging.close();
  const [name = ''] = await readdir(directory);
  t.match(await readFile(path.join(directory, name), 'utf8'), /the last one\n$/);

  await rm(directory, { recursive: true });
  log.error('too late');
  await logging.hub.flush();
  t.notOk(existsSync(directory));
});

t.test('lines are filtered, redacted and written to file and subscribers', async t => {
  await untilDayIsLong();
  const directory = path.join(testDir(t), 'log');
  const settings = {
    logLevel: 'INFO',
    httpLogLevel: 'ERROR',
    maxBytes: 1e6,
    keep: 2,
    color: false,
    format: 'text',
    milliseconds: false,
  } as const;
  const logging = await createLogging({
    directory,
    name: 'Own',
    stdout: false,
    owner: () => null,
    settings: () => settings,
  });
  t.teardown(() => logging.close());
  const { hub } = logging;
  const told: LogLine[] = [];
  const end = hub.subscribe(lines => told.push(...lines));
  const log = logging.logger('part');
  const http = logging.logger('http');

  log.debug('hidden');
  log.info('password: hunter2\nsecond line');
  log.error('it failed', new Error('outer', { cause: new Error('inner') }));
  http.warn('hidden');
  const at = Date.now();
  const captured = [
    { at, level: 'INFO', text: 'hello', processName: 'Sonärr' },
    { at, level: 'ERROR', text: 'ERROR - not – found', processName: 'Sonärr' },
  ] as const;
  const block = Buffer.from(captured.map(line => `${formatRecord(line)}\n`).join(''));
  hub.writeCaptured({ at, processName: 'Sonärr', block });
  hub.overrideDebug(true);
  t.equal(hub.level(), 'DEBUG');
  t.equal(hub.configuredLevel(), 'INFO');
  log.debug('shown, token=abc');
  http.debug('shown');
  hub.overrideDebug(false);
  log.debug('hidden');
  await hub.flush();

  const file = path.join(directory, `Own-${formatDay(Date.now())}.log`);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  t.same(
    told.map(record => formatRecord(record)),
    lines,
    'subscribers get the records of which the file is made',
  );
  t.match(told[0], { level: 'INFO', text: 'part: password: [REDACTED]', processName: undefined });
  t.same(told.slice(3, 5), captured);
  t.ok(
    told.every(({ at }) => Math.abs(Date.now() - at) < 60_000),
    'with their time',
  );
  t.same(
    lines.map(line => line.replace(/^\w{3} \d{1,2}, \d{4} \d\d:\d\d:\d\d - /, '')),
    [
      'INFO - part: password: [REDACTED]',
      'INFO - second line',
      'ERROR - part: it failed: outer: inner',
      'INFO - Sonärr subprocess: hello',
      'ERROR - Sonärr subprocess: ERROR - not – found',
      'DEBUG - part: shown, token=[REDACTED]',
      'DEBUG - http: shown',
    ],
  );
  void end();
  log.info('later');
  await hub.flush();
  t.equal(told.length, lines.length, 'no more after the end of the subscription');
});

t.test('lines can be JSON, and have times with milliseconds', async t => {
  const directory = path.join(testDir(t), 'log');
  const common = { logLevel: 'INFO', httpLogLevel: 'INFO', maxBytes: 1e6, keep: 2, color: false } as const;
  let settings: ReturnType<LoggingOptions['settings']> = { ...common, format: 'json', milliseconds: false };
  const logging = await createLogging({
    directory,
    name: 'Own',
    stdout: false,
    owner: () => null,
    settings: () => settings,
  });
  t.teardown(() => logging.close());
  const { hub } = logging;
  const told: LogLine[] = [];
  hub.subscribe(lines => told.push(...lines));
  const at = new Date(2025, 3, 2, 10, 4, 1, 7).getTime();
  const captured = { at, level: 'ERROR', text: 'it "said" \\ {} –', processName: 'Sonärr' } as const;
  const writeBoth = async (): Promise<string[]> => {
    logging.logger('part').info('token=abc');
    hub.writeCaptured({ at, processName: captured.processName, block: Buffer.from(`${formatRecord(captured)}\n`) });
    await hub.flush();
    const [name = ''] = (await readdir(directory)).sort().slice(-1);
    return (await readFile(path.join(directory, name), 'utf8')).trimEnd().split('\n').slice(-2);
  };

  const objects = (await writeBoth()).map(line => JSON.parse(line) as Record<string, unknown>);
  const { time, ...own } = objects[0] ?? {};
  t.equal(time, new Date(told[0]?.at ?? 0).toISOString());
  t.same(own, { level: 'INFO', message: 'part: token=[REDACTED]' });
  t.same(objects[1], {
    time: new Date(at).toISOString(),
    level: 'ERROR',
    process: captured.processName,
    message: captured.text,
  });
  settings = { ...settings, format: 'text', milliseconds: true };
  const [first = '', second = ''] = await writeBoth();
  t.match(first, /^\w{3} \d{1,2}, \d{4} \d\d:\d\d:\d\d\.\d{3} - INFO - part: /);
  t.equal(second, formatRecord(captured).replace('10:04:01', '10:04:01.007'));
  t.same(told[1], told[3], 'subscribers get the same records');
});

t.test('long texts of other programs are cut in a line', async t => {
  const logging = await createLogging({
    directory: path.join(testDir(t), 'log'),
    name: 'Own',
    stdout: false,
    owner: () => null,
    settings: () => ({
      logLevel: 'DEBUG',
      httpLogLevel: 'ERROR',
      maxBytes: 1e6,
      keep: 2,
      color: false,
      format: 'text',
      milliseconds: false,
    }),
  });
  t.teardown(() => logging.close());
  const told: LogLine[] = [];
  logging.hub.subscribe(lines => told.push(...lines));
  logging.logger('part').error('it failed', new Error('x'.repeat(1_000_000)));
  await logging.hub.flush();
  const [first] = told.filter(({ text }) => text.includes('it failed'));
  t.match(first?.text, /^part: it failed: xxx/);
  t.match(first?.text, /xxx \[cut off\]$/);
  t.ok(told.every(({ text }) => text.length < 66_000));

  const URL = 'postgres://bob:hunter2@db/';
  for (let before = 0; before <= URL.length; before += 1) {
    const filler = 'x'.repeat(64 * 1024 - 'part: '.length - before);
    logging.logger('part').warn(`${filler}${URL}${'y'.repeat(1_000_000)}`);
  }
  await logging.hub.flush();
  t.notOk(
    told.some(({ text }) => text.includes('bob') || text.includes('hun')),
    'no half of a secret stands before the cut',
  );
});

t.test('a fault of the disk of the log is described on standard error', async t => {
  const directory = path.join(testDir(t), 'log');
  const settings = { logLevel: 'INFO', httpLogLevel: 'INFO', maxBytes: 1e6, keep: 2, color: false } as const;
  const logging = await createLogging({
    directory,
    name: 'Own',
    stdout: false,
    owner: () => null,
    settings: () => ({ ...settings, format: 'text', milliseconds: false }),
  });
  t.teardown(() => logging.close());
  const handle = await open(path.join(directory, 'other'), 'w');
  const prototype = Object.getPrototypeOf(handle) as { write: unknown };
  await handle.close();
  const { write } = prototype;
  const { write: print } = process.stderr;
  t.teardown(() => {
    prototype.write = write;
    process.stderr.write = print;
  });
  const told: string[] = [];
  process.stderr.write = text => told.push(String(text)) > 0;
  prototype.write = async () => {
    throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', errno: -5, syscall: 'write' });
  };
  logging.logger('part').info('a line');
  await logging.hub.flush();
  t.match(told.join(''), /WARNING - \S+\.log cannot be written; \d+ bytes of log were dropped: i\/o error\n/);
});
