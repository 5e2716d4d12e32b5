// The host's own log: what is redacted from lines, their form and levels, and the files they are written to.
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { LogLine } from '../../../core/contract/log.ts';
import { findLevel, parseLevel, passes } from '../../../core/kit/log-level.ts';
import { formatDay, formatLine, formatRecord } from '../../../core/kit/log-line.ts';
import { redact } from '../../../core/kit/redact.ts';
import { createLogging, type LoggingOptions } from '../../../core/log/own-log.ts';
import { untilDayIsLong } from '../../support/day.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';

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

t.test('while the configuration cannot be used, the files of all days are kept', async t => {
  const older = ['01', '02', '03'].map(day => `DUMB-2025-03-${day}.log`);
  const log = Object.fromEntries(older.map(name => [name, `${name}\n`]));
  const configDir = testDir(t, { 'stackwarden.json': '{ "dumb": { "log_count": 30 },', log });
  const app = await startHost({ configDir, plugins: ['config'] });
  t.teardown(() => app.stop());
  await ownLog(app);
  const names = await readdir(path.join(configDir, 'log'));
  t.same(
    older.filter(name => !names.includes(name)),
    [],
  );
  t.ok(names.length > older.length, 'beside a new one');
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
