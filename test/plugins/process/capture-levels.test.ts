// The output of a program: its levels, where it goes, what is removed from it, and how its log is kept small.
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { untilDayIsLong } from '../../support/day.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { ownLogText } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'logs'];

/** A program that runs a shell script, prints a line at its end, and runs on. */
const speaker = (processName: string, script: string, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sh', '-c', `${script}\necho 'ERROR all is said'; exec sleep 600`],
  stop_grace_seconds: 1,
  ...more,
});

async function logDirOf(t: Test): Promise<string> {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  return dir;
}

async function run(t: Test, logDir: string, services: Record<string, unknown>, dumb: object = {}) {
  const app = await startHost({ plugins: PLUGINS, config: { dumb: { log_dir: logDir, ...dumb }, ...services } });
  t.teardown(() => app.stop());
  return app;
}

/** Lines of a log as level and text; each must have the usual form. `name` is that of the service. */
async function linesOf(t: Test, file: string, name = ''): Promise<string[][]> {
  const prefix = name === '' ? '' : `${name} subprocess: `;
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return lines.map(line => {
    const parts = /^[A-Z][a-z]{2} \d{1,2}, \d{4} \d\d:\d\d:\d\d - (\w+) - (.*)$/.exec(line);
    const text = String(parts?.[2]);
    if (parts === null || !text.startsWith(prefix)) t.fail(`not a log line: ${line.slice(0, 200)}`);
    return [String(parts?.[1]), text.slice(prefix.length)];
  });
}

const said = async (file: string) => (await readFile(file, 'utf8')).includes('all is said');
const untilSaid = (file: string) => until(() => said(file), { what: `the end of ${file}` });
const ownLogOf = async (logDir: string) =>
  path.join(logDir, String((await readdir(logDir)).find(name => /^DUMB-\d{4}-\d\d-\d\d\.log$/.test(name))));

t.test('lines get levels, lose terminal codes and secrets, and keep their order', async t => {
  await untilDayIsLong();
  const logDir = await logDirOf(t);
  const file = path.join(logDir, 'speaker.log');
  const script = String.raw`
    printf '\033[1;33mWARN\033[0m yellow\n\033]0;title\007plain\n'
    printf '[trace] deep\n2025-01-01 10:00:00 [NOTICE] so\nfatal: the end\nerr: short\ncritical\ninformation\n'
    printf '%080d ERROR too far\n' 0
    printf 'token=hunter2 for me@example.org\n'
    echo '{"time":1700000000000,"pid":7,"msg":"no error at all","level":40}'
    echo '{"@t":"2025-01-01T10:00:00.0000000Z","@mt":"A long message of more than eighty characters, as it is usual","@l":"Error"}'
    echo '{"severity":"NOTICE","message":"fatal was the word"}'
    echo '{"message":"ERROR without a level"}'
    echo '{"level":"constructor","message":"a name that every object has"}'
    printf 'bad \377\376 bytes \303\244\n'
    printf '\n   \nwindows line\r\n'
    i=0; while [ $i -lt 20 ]; do echo "turn $i, stdout"; echo "turn $i, stderr" >&2; i=$((i+1)); done`;
  const app = await run(t, logDir, { speaker: speaker('Speaker', script, { log_file: file, log_level: 'TRACE' }) });
  await start(app, 'Speaker');
  await untilSaid(file);
  const lines = await linesOf(t, file, 'Speaker');
  t.strictSame(lines, [
    ['WARNING', 'WARN yellow'],
    ['INFO', 'plain'],
    ['DEBUG', '[trace] deep'],
    ['INFO', '2025-01-01 10:00:00 [NOTICE] so'],
    ['CRITICAL', 'fatal: the end'],
    ['ERROR', 'err: short'],
    ['CRITICAL', 'critical'],
    ['INFO', 'information'],
    ['INFO', `${'0'.repeat(80)} ERROR too far`],
    ['INFO', 'token=[REDACTED] for [REDACTED]'],
    ['WARNING', '{"time":1700000000000,"pid":7,"msg":"no error at all","level":40}'],
    [
      'ERROR',
      '{"@t":"2025-01-01T10:00:00.0000000Z","@mt":"A long message of more than eighty characters, as it is usual","@l":"Error"}',
    ],
    ['INFO', '{"severity":"NOTICE","message":"fatal was the word"}'],
    ['ERROR', '{"message":"ERROR without a level"}'],
    ['INFO', '{"level":"constructor","message":"a name that every object has"}'],
    ['INFO', 'bad \ufffd\ufffd bytes ä'],
    ['INFO', 'windows line'],
    ...Array.from({ length: 20 }, (_, turn) => [
      ['INFO', `turn ${turn}, stdout`],
      ['INFO', `turn ${turn}, stderr`],
    ]).flat(),
    ['ERROR', 'ERROR all is said'],
  ]);
  const own = await ownLogOf(logDir);
  await untilSaid(own);
  const captured = (await linesOf(t, own)).filter(([, text]) => text?.startsWith('Speaker subprocess: '));
  t.strictSame(
    captured,
    lines.filter(([level]) => level !== 'DEBUG').map(([level, text]) => [level, `Speaker subprocess: ${text}`]),
    'the own log has those of its level under the name of the process',
  );
});

t.test("output goes to the host's log, to a log of its own, or nowhere", async t => {
  const logDir = await logDirOf(t);
  const elsewhere = path.join(t.testdirName, '..', `${path.basename(t.testdirName)}-elsewhere`);
  const inside = path.join(logDir, 'sub', 'owned.log');
  const app = await run(t, logDir, {
    loud: speaker('Loud', 'echo loud line'),
    quiet: speaker('Quiet', 'echo quiet line', { suppress_logging: true, log_file: inside }),
    foreign: speaker('Foreign', 'echo foreign line', { log_file: path.join(elsewhere, 'app.log') }),
    sly: speaker('Sly', 'echo sly line', { suppress_logging: true, log_file: path.join(logDir, '..', 'sly.log') }),
    nowhere: speaker('Nowhere', 'i=0; while [ $i -lt 5000 ]; do echo lost line $i; i=$((i+1)); done', {
      suppress_logging: true,
    }),
  });
  const streamed: string[] = [];
  const socket = app.ws('/ws/logs');
  t.teardown(() => socket.terminate());
  socket.on('message', (data: Buffer) => streamed.push(data.toString()));
  await new Promise(resolve => socket.once('open', resolve));
  await Promise.all(['Loud', 'Quiet', 'Foreign', 'Sly', 'Nowhere'].map(name => start(app, name)));
  await untilSaid(inside);
  await until(async () => {
    const text = await ownLogText(logDir);
    return ['Loud', 'Foreign'].every(name => text.includes(`${name} subprocess: ERROR all is said`));
  });
  await until(() => ['Loud', 'Foreign'].every(name => streamed.join('').includes(`${name} subprocess: ERROR all`)));
  // Output that goes nowhere is read to its end too.
  await until(async () => (await status(app, 'Nowhere')).status === 'running');
  for (const text of [await ownLogText(logDir), streamed.join('')]) {
    t.match(text, / - INFO - Loud subprocess: loud line/);
    t.match(text, / - INFO - Foreign subprocess: foreign line/);
    t.notMatch(text, /(quiet|lost|sly) line/);
  }
  t.match(await linesOf(t, inside, 'Quiet'), [
    ['INFO', 'quiet line'],
    ['ERROR', 'ERROR all is said'],
  ]);
  await t.rejects(stat(elsewhere), 'a log outside the log directory belongs to the program');
  await t.rejects(stat(path.join(logDir, '..', 'sly.log')));
  const { mode, uid, gid } = await stat(inside);
  t.equal(mode & 0o777, 0o640);
  if (process.getuid?.() === 0) t.match({ uid, gid }, { uid: 65_534, gid: 65_534 });
});

t.test('the level of a service filters its log, and a new level acts at once', async t => {
  const logDir = await logDirOf(t);
  const script = 'echo DEBUG one; echo INFO two; echo plain; echo WARNING three; echo CRITICAL four';
  const speak = (name: string, log_level?: string) =>
    speaker(name, script, { log_file: path.join(logDir, `${name}.log`), ...(log_level && { log_level }) });
  const wanted = {
    Debug: ['DEBUG one', 'INFO two', 'plain', 'WARNING three', 'CRITICAL four', 'ERROR all is said'],
    Default: ['INFO two', 'plain', 'WARNING three', 'CRITICAL four', 'ERROR all is said'],
    Warn: ['WARNING three', 'CRITICAL four', 'ERROR all is said'],
    Error: ['CRITICAL four', 'ERROR all is said'],
  };
  const signalled = path.join(logDir, 'signalled.log');
  const app = await run(t, logDir, {
    debug: speak('Debug', 'debug'),
    default: speak('Default'),
    warn: speak('Warn', 'WARN'),
    error: speak('Error', ' error '),
    // It prints a while after the signal, because nothing shows when the new level has reached the capture.
    signalled: {
      ...speaker('Signalled', '', { log_file: signalled }),
      command: ['sh', '-c', "trap 'sleep 1; echo INFO again; echo ERROR all is said' HUP; while :; do sleep 0.1; done"],
    },
  });
  await Promise.all([...Object.keys(wanted), 'Signalled'].map(name => start(app, name)));
  for (const [name, texts] of Object.entries(wanted)) {
    const file = path.join(logDir, `${name}.log`);
    await untilSaid(file);
    t.same(
      (await linesOf(t, file, name)).map(([, text]) => text),
      texts,
      name,
    );
  }
  await app.post('/config', { process_name: 'Signalled', updates: { log_level: 'ERROR' } });
  const { processes } = JSON.parse(await readFile(path.join(app.configDir, 'supervisor', 'state.json'), 'utf8'));
  process.kill(processes.Signalled.pid, 'SIGHUP');
  await untilSaid(signalled);
  t.same(await linesOf(t, signalled, 'Signalled'), [['ERROR', 'ERROR all is said']]);
});

t.test('a line without an end is cut at 64 KiB, the last one without a newline is kept', async t => {
  const logDir = await logDirOf(t);
  const file = path.join(logDir, 'long.log');
  const script = `head -c ${64 * 1024 * 2 + 10} /dev/zero | tr '\\0' x; echo; trap 'printf unfinished; exit' TERM`;
  const app = await run(t, logDir, {
    long: {
      ...speaker('Long', '', { log_file: file, suppress_logging: true }),
      command: ['sh', '-c', `${script}; while :; do sleep 0.1; done`],
    },
  });
  await start(app, 'Long');
  await until(async () => (await readFile(file, 'utf8')).split('\n').length === 3 + 1);
  t.same(
    (await linesOf(t, file, 'Long')).map(([, text]) => text?.length),
    [64 * 1024, 64 * 1024, 10],
  );
  t.equal((await stop(app, 'Long')).status, 200);
  t.same((await linesOf(t, file, 'Long')).at(-1), ['INFO', 'unfinished']);
});

t.test('rotation by size keeps the newest, rotation by day names the day that ended', async t => {
  await untilDayIsLong();
  const logDir = await logDirOf(t);
  const small = path.join(logDir, 'small.log');
  const dated = path.join(logDir, 'dated.log');
  await mkdir(logDir, { recursive: true });
  await writeFile(dated, 'Apr 2, 2025 10:04:01 - INFO - Dated subprocess: an old line\n');
  await writeFile(path.join(logDir, 'small-notes.log'), 'not ours\n');
  const then = new Date(2025, 3, 2, 10, 4, 1);
  await utimes(dated, then, then);
  const count = 40;
  const line = `echo "${'x'.repeat(60)} line $i"`;
  const app = await run(
    t,
    logDir,
    {
      // Each line waits for the previous one, because lines that arrive together stay in one file.
      small: speaker(
        'Small',
        `i=0; while [ $i -lt ${count} ]; do ${line}; until grep -qs "line $i$" ${logDir}/small*; do sleep 0.02; done; i=$((i+1)); done`,
        { log_file: small, suppress_logging: true },
      ),
      dated: speaker('Dated', 'echo a new line', { log_file: dated, suppress_logging: true }),
    },
    { log_size: '1K', log_count: 2 },
  );
  await Promise.all([start(app, 'Small'), start(app, 'Dated')]);
  await Promise.all([untilSaid(small), untilSaid(dated)]);

  t.match(await readFile(path.join(logDir, 'dated-2025-04-02_1.log'), 'utf8'), /an old line/);
  t.same(
    (await linesOf(t, dated, 'Dated')).map(([, text]) => text),
    ['a new line', 'ERROR all is said'],
  );
  const rotated = (await readdir(logDir)).filter(name => /^small-\d{4}-\d\d-\d\d_\d+\.log$/.test(name)).sort();
  t.equal(rotated.length, 2, 'log_count');
  t.match(rotated, [/_1\.log$/, /_2\.log$/]);
  const numbersOf = async (name: string) =>
    [...(await readFile(path.join(logDir, name), 'utf8')).matchAll(/line (\d+)$/gm)].map(([, number]) =>
      Number(number),
    );
  const [newest = '', older = ''] = rotated;
  const kept = [...(await numbersOf(older)), ...(await numbersOf(newest)), ...(await numbersOf('small.log'))];
  t.same(
    kept,
    Array.from({ length: kept.length }, (_, index) => count - kept.length + index),
    'the kept files hold the last lines in order, without a gap',
  );
  t.ok(kept.length < count, 'the first ones are gone');
  for (const name of [...rotated, 'small.log']) t.ok((await stat(path.join(logDir, name))).size <= 1_024, name);
  t.equal(await readFile(path.join(logDir, 'small-notes.log'), 'utf8'), 'not ours\n');
});
