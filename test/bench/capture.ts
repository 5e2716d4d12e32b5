// How fast the lines of 1, 10 and 50 writers reach their logs, and what a megabyte costs the host, also for lines that
// go to the host's own log too and for lines with secrets. The baseline is a bare Node process that copies the same
// lines from pipes to files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { redact } from '../../core/kit/redact.ts';
import { until } from '../support/until.ts';
import { type BuiltHost, cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

/** 200 MB of ordinary lines, so that other work of the host hardly counts. */
const LINES = 2_200_000;
/** Lines before the measurement, because the very first output starts a thread. */
const FIRST_LINES = 100_000;
/** A wait after the start of a host, whose further work would count as work on the output. */
const SETTLE_MS = 5_000;
const SECRET_LINES = 500_000;
const RUNS = 3;
const LINE = '2026-01-02 03:04:05 INFO [import] something happened with an item of the library of films';
const SECRETS_LINE = '2026-01-02 INFO user 12 of me@example.org sent token=abcdef123456789 and passed the key server';

interface Work {
  readonly name: string;
  readonly writers: number;
  /** Lines of all writers together. */
  readonly lines: number;
  readonly line: string;
  /** The line as it is logged. */
  readonly logged: string;
  /** Whether the lines go to the host's own log too. */
  readonly toOwnLog: boolean;
}

const ordinary = { lines: LINES, line: LINE, logged: LINE, toOwnLog: false };
const WORKS: readonly Work[] = [
  ...[1, 10, 50].map(writers => ({ name: `capture-${writers}`, writers, ...ordinary })),
  { name: 'capture-1-both-logs', writers: 1, ...ordinary, toOwnLog: true },
  {
    name: 'capture-1-secrets',
    writers: 1,
    lines: SECRET_LINES,
    line: SECRETS_LINE,
    logged: redact(SECRETS_LINE),
    toOwnLog: false,
  },
];
const MB = 1_000_000;
/** What stands before the line in the log. */
const PREFIX = 'Jan 2, 2026 03:04:05 - INFO - Writer 0 subprocess: ';

const sourceBytes = ({ line, lines }: Work): number => lines * (line.length + 1);
const script = ({ line, lines, writers }: Work): string =>
  `yes '${line}' | head -n ${lines / writers}; exec sleep 86400`;

interface Run {
  readonly megabytesPerS: number;
  readonly cpuMsPerMegabyte: number;
}

async function totalBytes(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter(name => name.startsWith('writer'));
  const sizes = await Promise.all(names.map(async name => (await stat(path.join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function measure(
  pid: number,
  directory: string,
  work: Work,
  expected: number,
  begin: () => Promise<unknown>,
): Promise<Run> {
  const cpuBefore = await cpuMs(pid);
  const startedMs = performance.now();
  const begun = begin();
  await until(async () => (await totalBytes(directory)) >= expected, { intervalMs: 10, timeoutMs: 120_000 });
  const ms = performance.now() - startedMs;
  const cpu = (await cpuMs(pid)) - cpuBefore;
  await begun;
  // Days are not padded in log lines, so that lines may be a byte or two longer than `PREFIX` suggests.
  if ((await totalBytes(directory)) > expected * 1.05) throw new Error('more was logged than was written');
  const megabytes = sourceBytes(work) / MB;
  return { megabytesPerS: megabytes / (ms / 1_000), cpuMsPerMegabyte: cpu / megabytes };
}

async function hostRun(work: Work): Promise<Run> {
  const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const blocks = Array.from({ length: work.writers }, (_, index) => [
    `writer_${index}`,
    {
      enabled: false,
      process_name: `Writer ${index}`,
      command: ['sh', '-c', script(work)],
      suppress_logging: !work.toOwnLog,
      log_file: path.join(logDir, `writer-${index}.log`),
    },
  ]);
  const first = { ...work, writers: 1, lines: FIRST_LINES };
  const place: Place = await makePlace({
    ...Object.fromEntries(blocks),
    first: {
      enabled: false,
      process_name: 'First',
      command: ['sh', '-c', script(first)],
      suppress_logging: true,
      log_file: path.join(logDir, 'first.log'),
    },
    dumb: { log_dir: logDir, log_size: '10G' },
  });
  const host: BuiltHost = await startBuilt(place);
  try {
    await host.post('/process/start-service', { process_name: 'First' });
    await delay(SETTLE_MS);
    const start = (_: unknown, index: number) =>
      host.post('/process/start-service', { process_name: `Writer ${index}` });
    const expected = work.lines * (work.logged.length + 1 + PREFIX.length);
    return await measure(host.pid, logDir, work, expected, () => Promise.all(blocks.map(start)));
  } finally {
    await host.end('SIGTERM');
    await place.remove();
    await rm(logDir, { recursive: true });
  }
}

async function bareRun(work: Work): Promise<Run> {
  const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const copier = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), 'bare', work.name, logDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    await once(copier.stdout, 'data');
    return await measure(copier.pid ?? 0, logDir, work, sourceBytes(work), async () => copier.stdin.write('go\n'));
  } finally {
    copier.kill();
    await once(copier, 'exit');
    await rm(logDir, { recursive: true });
  }
}

function copy(work: Work, directory: string): void {
  process.stdin.once('data', () => {
    const children = Array.from({ length: work.writers }, (_, index) => {
      const child = spawn('sh', ['-c', script(work)], { stdio: ['ignore', 'pipe', 'ignore'] });
      child.stdout.pipe(createWriteStream(path.join(directory, `writer-${index}.log`)));
      return child;
    });
    process.once('SIGTERM', () => {
      for (const child of children) child.kill();
      process.exit(0);
    });
  });
  console.log('up');
}

async function compare(work: Work): Promise<void> {
  const host: Run[] = [];
  const bare: Run[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    bare.push(await bareRun(work));
    host.push(await hostRun(work));
  }
  const rates = (runs: readonly Run[]) => runs.map(run => run.megabytesPerS);
  const costs = (runs: readonly Run[]) => runs.map(run => run.cpuMsPerMegabyte);
  printFigure({ name: work.name, unit: 'MB/s', runs: rates(host), baseline: rates(bare) });
  printFigure({ name: work.name, unit: 'ms of CPU per MB', runs: costs(host), baseline: costs(bare) });
}

const [, , mode, wanted, directory] = process.argv;
if (mode === 'bare') for (const work of WORKS.filter(({ name }) => name === wanted)) copy(work, String(directory));
else for (const work of WORKS) await compare(work);
