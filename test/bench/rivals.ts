// Stackwarden compared with supervisord and PM2, which are installed if they are missing: the time to start and stop 50
// programs, memory and processor time while idle, the time from a crash to the replacement, captured lines per second,
// and the latency of a command. The baseline of each figure is the other supervisor in the same run.
import { chmod, open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { cpuMs, residentMegabytes } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';
import { type Program, RIVALS, type Rival, withDirectory } from './support/rivals.ts';

const COUNT = 50;
const SETTLE_MS = 10_000;
/** In their first minute, supervisors that run on V8 collect the garbage of their start. */
const REST_MS = 50_000;
const IDLE_MS = 20_000;
const CRASHES = 5;
/** Each supervisor counts a program that ends sooner as a failed start. */
const PAUSE_MS = 2_500;
const COMMANDS = 10;
const LINES = 500_000;
const LINE = '2026-01-02 03:04:05 INFO [import] something happened with an item of the library of films';
const LOOK = { intervalMs: 5, timeoutMs: 180_000 };
const MS_PER_S = 1_000;
/** An argument that only the sleeping programs of this run have. */
const SECONDS = String(86_400 + process.pid);

interface Run {
  readonly start: number;
  readonly stop: number;
  readonly memory: number;
  readonly idle: number;
  readonly crash: readonly number[];
  readonly lines: number;
  readonly command: readonly number[];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function sleeping(): Promise<number> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return texts.filter(text => text.endsWith(`sleep\0${SECONDS}\0`)).length;
}

interface Start {
  readonly pid: number;
  readonly atMs: number;
}

async function startsIn(file: string): Promise<Start[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
  return lines.map(line => {
    const [pid = 0, seconds = 0] = line.split(' ').map(Number);
    return { pid, atMs: seconds * MS_PER_S };
  });
}

/** Milliseconds from each death to the first line of the replacement. */
async function crashes(file: string): Promise<number[]> {
  const results: number[] = [];
  for (let run = 0; run < CRASHES; run += 1) {
    const last = await until(async () => (await startsIn(file))[run], LOOK);
    await delay(PAUSE_MS);
    const diedMs = performance.timeOrigin + performance.now();
    process.kill(last.pid, 'SIGKILL');
    const next = await until(async () => (await startsIn(file))[run + 1], LOOK);
    results.push(next.atMs - diedMs);
  }
  return results;
}

async function measure(rival: Rival, directory: string, sleepers: readonly string[]): Promise<Run> {
  let answered: Promise<void> | undefined;
  const start = await timed(async () => {
    answered = rival.start(sleepers);
    await until(async () => (await sleeping()) === COUNT, { ...LOOK, intervalMs: 20 });
  });
  // Stackwarden answers only after it has observed for a while that the programs keep running.
  await answered;
  await delay(SETTLE_MS);
  const memory = await residentMegabytes(rival.pid);
  await delay(REST_MS);
  const before = await cpuMs(rival.pid);
  await delay(IDLE_MS);
  const idle = (((await cpuMs(rival.pid)) - before) / IDLE_MS) * 100;
  const command: number[] = [];
  for (let run = 0; run < COMMANDS; run += 1) command.push(await timed(() => rival.list()));
  const stop = await timed(async () => {
    await rival.stop(sleepers);
    await until(async () => (await sleeping()) === 0, LOOK);
  });

  const starts = path.join(directory, 'starts');
  await writeFile(starts, '');
  await chmod(starts, 0o666);
  await rival.start(['crashing']);
  const crash = await crashes(starts);
  await rival.stop(['crashing']);

  const log = path.join(directory, 'writer.log');
  const writing = rival.start(['writer']);
  await until(() => readFile(path.join(directory, 'began')), LOOK);
  const tookMs = await timed(() => until(async () => (await linesIn(log)) >= LINES, { ...LOOK, intervalMs: 20 }));
  await writing;
  await rival.stop(['writer']);
  return { start, stop, memory, idle, crash, lines: LINES / (tookMs / MS_PER_S), command };
}

/** The number of lines in a file; all lines are equally long. */
async function linesIn(file: string): Promise<number> {
  const log = await open(file).catch(() => undefined);
  if (log === undefined) return 0;
  try {
    const { size } = await log.stat();
    const { buffer, bytesRead } = await log.read(Buffer.alloc(1_000), 0, 1_000, 0);
    const end = buffer.subarray(0, bytesRead).indexOf('\n');
    return end < 0 ? 0 : Math.floor(size / (end + 1));
  } finally {
    await log.close();
  }
}

async function measureAll(): Promise<ReadonlyMap<string, Run>> {
  const runs = new Map<string, Run>();
  for (const begin of RIVALS) {
    await withDirectory(async directory => {
      const program = (name: string, command: Program['command']): Program => ({
        name,
        command,
        logFile: path.join(directory, `${name}.log`),
      });
      const sleepers = Array.from({ length: COUNT }, (_, index) => `sleeper-${index}`);
      const starts = path.join(directory, 'starts');
      const rival = await begin(directory, [
        ...sleepers.map(name => program(name, ['sleep', SECONDS])),
        program('crashing', ['bash', '-c', `echo $$ $EPOCHREALTIME >> ${starts}; exec sleep 86400`]),
        program('writer', [
          'bash',
          '-c',
          `touch ${directory}/began; yes '${LINE}' | head -n ${LINES}; exec sleep 86400`,
        ]),
      ]);
      try {
        runs.set(rival.name, await measure(rival, directory, sleepers));
      } finally {
        await rival.end();
      }
    });
  }
  return runs;
}

const FIGURES: Readonly<Record<keyof Run, string>> = {
  start: `ms until ${COUNT} programs run`,
  stop: `ms for ${COUNT} programs`,
  memory: 'MB resident',
  idle: '% of one core',
  crash: 'ms to the replacement',
  lines: 'lines/s',
  command: 'ms',
};

const [[, own], ...others] = [...(await measureAll())] as [[string, Run], ...[string, Run][]];
for (const [name, other] of others) {
  for (const [figure, unit] of Object.entries(FIGURES) as [keyof Run, string][]) {
    const [runs, baseline] = [[own[figure]].flat(), [other[figure]].flat()];
    printFigure({ name: `rivals-${figure}-${name}`, unit, runs, baseline });
  }
}
