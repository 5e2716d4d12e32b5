// Services with one log: neither a takeover, nor a rotation, nor a full disk loses a line of any of them.
import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { GuardedDirectory } from '../../../core/kit/guarded-directory.ts';
import { Capture } from '../../../plugins/process/capture/capture.ts';
import { PositionFile, START } from '../../../plugins/process/capture/position.ts';
import { testDir } from '../../support/directory.ts';
import { kid } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process'];
const WRITES = 'n=0; while :; do n=$((n + 1)); echo "number $n"; sleep 0.05; done';

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  t.test(`lines of one outlast a takeover of the other, after ${signal}`, async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o755);
    const log = path.join(dir, 'log', 'both.log');
    const block = (name: string, script: string) => ({
      ...kid(name, [], { enabled: true }),
      command: ['sh', '-c', script],
      log_file: log,
    });
    const config = { quiet: block('Quiet', 'echo once; exec sleep 600'), busy: block('Busy', WRITES) };
    const port = await writeConfig(dir, { dumb: { shutdown: { keep_services: true } }, ...config });
    const numbers = async (): Promise<number[]> => {
      const text = await readFile(log, 'utf8').catch(() => '');
      return [...text.matchAll(/Busy subprocess: number (\d+)$/gm)].map(([, number]) => Number(number));
    };
    const first = await startStackwarden(dir, port, { plugins: PLUGINS });
    await until(async () => (await readFile(log, 'utf8')).includes('once') && (await numbers()).length > 10);
    first.child.kill(signal);
    await first.exited;
    const before = (await numbers()).length;

    const second = await startStackwarden(dir, port, { plugins: PLUGINS });
    t.teardown(async () => {
      for (const name of ['Quiet', 'Busy'])
        await fetch(`${second.base}/process/stop-service`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ process_name: name }),
        });
      second.child.kill('SIGTERM');
      await second.exited;
    });
    await until(() => ['Quiet', 'Busy'].every(name => second.stdout().includes(`${name} is still running`)));
    await until(async () => ((await numbers()).at(-1) ?? 0) > before + 10);
    const seen = await numbers();
    t.same(
      [...new Set(seen)],
      Array.from({ length: seen.at(-1) ?? 0 }, (_, index) => index + 1),
    );
  });
}

const ROUNDS = 60;
const LINES = 20;

const run = promisify(execFile);
const skip = process.getuid?.() === 0 ? false : 'only root may mount';

t.test('rotations of both at the same time replace no rotated log', async t => {
  const directory = testDir(t, {});
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1_000, keep: 10_000 }),
    ownLevel: () => 'INFO',
    deliver: async () => undefined,
    log: { warn: message => t.fail(message), error: message => t.fail(message) },
    onFault: () => undefined,
  });
  const target = { logFile: path.join(directory, 'both.log'), accessLogFile: null, suppressed: true, owner: null };
  const names = ['A', 'B', 'C'];
  const spoolOf = (name: string) => path.join(directory, `${name}.spool`);
  const sessions = await Promise.all(
    names.map(name => capture.open({ ...target, processName: name, logLevel: 'INFO' }, spoolOf(name))),
  );
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const name of names) await appendFile(spoolOf(name), `number ${round}${' '.repeat(300)}.\n`);
    if (round % 5 === 0) capture.rotate();
    await Promise.all(sessions.map(session => session.settled()));
  }
  await Promise.all(sessions.map(session => session.finish()));
  await capture.close();
  const logs = (await readdir(directory)).filter(file => file.startsWith('both'));
  const texts = await Promise.all(logs.map(file => readFile(path.join(directory, file), 'utf8')));
  for (const name of names) {
    const numbers = [...texts.join('').matchAll(new RegExp(`${name} subprocess: number (\\d+) `, 'g'))].map(
      ([, n]) => +(n ?? 0),
    );
    t.same(
      numbers.sort((a, b) => a - b),
      Array.from({ length: ROUNDS }, (_, index) => index + 1),
      `each line of ${name}`,
    );
  }
});

t.test('a part that a full disk took is taken back without the lines of others', { skip }, async t => {
  const directory = testDir(t, {});
  const small = path.join(directory, 'small');
  await mkdir(small);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', small]);
  t.teardown(() => run('umount', ['--lazy', small]));
  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 10_000_000, keep: 2 }),
    ownLevel: () => 'INFO',
    deliver: async () => undefined,
    log: { warn: () => undefined, error: message => t.fail(message) },
    onFault: () => undefined,
  });
  const log = path.join(small, 'both.log');
  const target = { logFile: log, accessLogFile: null, suppressed: true, owner: null, logLevel: 'INFO' } as const;
  const names = ['A', 'B', 'C'];
  const spoolOf = (name: string) => path.join(directory, `${name}.spool`);
  const sessions = await Promise.all(
    names.map(processName => capture.open({ ...target, processName }, spoolOf(processName))),
  );
  const numbers = Array.from({ length: ROUNDS * LINES }, (_, index) => index + 1);
  const filler = path.join(small, 'filler');
  for (let round = 0; round < ROUNDS; round += 1) {
    const lines = numbers.slice(round * LINES, (round + 1) * LINES).map(number => `number ${number}${' '.repeat(20)}.`);
    for (const name of names) await appendFile(spoolOf(name), `${lines.join('\n')}\n`);
    if (round % 6 === 3) await writeFile(filler, Buffer.alloc(600_000)).catch(() => undefined);
    await Promise.all(sessions.map(session => session.settled()));
    if (round % 6 === 5) await rm(filler);
  }
  await rm(filler, { force: true });
  await until(() => sessions.every(session => session.waitingBytes() === 0), { what: 'all lines in the log' });
  const text = await readFile(log, 'utf8');
  for (const name of names)
    t.same(
      [...text.matchAll(new RegExp(`${name} subprocess: number (\\d+) `, 'g'))].map(([, number]) => Number(number)),
      numbers,
      `each line of ${name}, in order`,
    );
  await Promise.all(sessions.map(session => session.finish()));
  await capture.close();
});

t.test('what a killed host was about to record is cut off before others write', async t => {
  const directory = testDir(t, {});
  const logFile = path.join(directory, 'both.log');
  const spoolOf = (name: string) => path.join(directory, `${name}.spool`);
  await writeFile(logFile, 'long ago\n');
  const { dev: logDevice, ino: logInode, size: logBytes } = await stat(logFile);
  await appendFile(logFile, 'Killed subprocess: unrecorded\n');
  await writeFile(spoolOf('Killed'), 'unrecorded\n');
  await writeFile(spoolOf('Other'), 'its line\n');
  const { positions } = await GuardedDirectory.at(`${spoolOf('Killed')}.position`, PositionFile.open);
  await positions.record({ ...START, logDevice, logInode, logBytes, pendingBytes: 4_096, logFile });
  await positions.close();
  const other = await GuardedDirectory.at(`${spoolOf('Other')}.position`, PositionFile.open);
  await other.positions.record(START);
  await other.positions.close();

  const capture = new Capture({
    directory,
    rotation: () => ({ maxBytes: 1_000_000, keep: 2 }),
    ownLevel: () => 'INFO',
    deliver: async () => undefined,
    log: { warn: message => t.fail(message), error: message => t.fail(message) },
    onFault: () => undefined,
  });
  const target = { logFile, accessLogFile: null, suppressed: true, owner: null, logLevel: 'INFO' } as const;
  for (const processName of ['Other', 'Killed']) {
    const session = await capture.open({ ...target, processName }, spoolOf(processName));
    await session.settled();
  }
  await capture.close();
  const lines = (await readFile(logFile, 'utf8')).split('\n').map(line => line.replace(/^.* INFO - /, ''));
  t.same(lines, ['long ago', 'Other subprocess: its line', 'Killed subprocess: unrecorded', '']);
});
