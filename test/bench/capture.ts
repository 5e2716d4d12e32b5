// Output capture: how fast the lines of 1, 10 and 50 writers reach their logs, and what a megabyte costs the host. The
// baseline is a bare Node process that copies the same lines from pipes to files, without looking at them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { type BuiltHost, cpuMs, makePlace, type Place, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const WRITERS = [1, 10, 50];
const TOTAL_LINES = 500_000;
const RUNS = 3;
const LINE = '2026-01-02 03:04:05 INFO [import] something happened with an item of the library of films';
const MB = 1_000_000;
/** What a log line has more than the line that was written. */
const PREFIX = 'Jan 2, 2026 03:04:05 - INFO - Writer 0 subprocess: ';

const sourceBytes = TOTAL_LINES * (LINE.length + 1);
const script = (lines: number): string => `yes '${LINE}' | head -n ${lines}; exec sleep 86400`;

interface Run {
  readonly megabytesPerS: number;
  readonly cpuMsPerMegabyte: number;
}

async function totalBytes(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter(name => name.startsWith('writer'));
  const sizes = await Promise.all(names.map(async name => (await stat(path.join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function measure(pid: number, directory: string, expected: number, begin: () => Promise<unknown>): Promise<Run> {
  const cpuBefore = await cpuMs(pid);
  const startedMs = performance.now();
  const begun = begin();
  await until(async () => (await totalBytes(directory)) >= expected, { intervalMs: 10, timeoutMs: 120_000 });
  const ms = performance.now() - startedMs;
  const cpu = (await cpuMs(pid)) - cpuBefore;
  await begun;
  // The day and the month are not padded, so that lines of another day are longer by a byte or two.
  if ((await totalBytes(directory)) > expected * 1.05) throw new Error('more was logged than was written');
  return { megabytesPerS: sourceBytes / MB / (ms / 1_000), cpuMsPerMegabyte: cpu / (sourceBytes / MB) };
}

async function hostRun(writers: number): Promise<Run> {
  const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const blocks = Array.from({ length: writers }, (_, index) => [
    `writer_${index}`,
    {
      enabled: false,
      process_name: `Writer ${index}`,
      command: ['sh', '-c', script(TOTAL_LINES / writers)],
      suppress_logging: true,
      log_file: path.join(logDir, `writer-${index}.log`),
    },
  ]);
  const place: Place = await makePlace({ ...Object.fromEntries(blocks), dumb: { log_dir: logDir, log_size: '10G' } });
  const host: BuiltHost = await startBuilt(place);
  try {
    const start = (_: unknown, index: number) =>
      host.post('/process/start-service', { process_name: `Writer ${index}` });
    const expected = TOTAL_LINES * (LINE.length + 1 + PREFIX.length);
    return await measure(host.pid, logDir, expected, () => Promise.all(blocks.map(start)));
  } finally {
    await host.end('SIGTERM');
    await place.remove();
    await rm(logDir, { recursive: true });
  }
}

async function bareRun(writers: number): Promise<Run> {
  const logDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-'));
  const copier = spawn(
    process.execPath,
    ['--import=tsx', fileURLToPath(import.meta.url), 'bare', String(writers), logDir],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  try {
    await once(copier.stdout, 'data');
    return await measure(copier.pid ?? 0, logDir, sourceBytes, async () => copier.stdin.write('go\n'));
  } finally {
    copier.kill();
    await once(copier, 'exit');
    await rm(logDir, { recursive: true });
  }
}

function copy(writers: number, directory: string): void {
  process.stdin.once('data', () => {
    const children = Array.from({ length: writers }, (_, index) => {
      const child = spawn('sh', ['-c', script(TOTAL_LINES / writers)], { stdio: ['ignore', 'pipe', 'ignore'] });
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

async function compare(writers: number): Promise<void> {
  const host: Run[] = [];
  const bare: Run[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    bare.push(await bareRun(writers));
    host.push(await hostRun(writers));
  }
  const name = `capture-${writers}`;
  const rates = (runs: readonly Run[]) => runs.map(run => run.megabytesPerS);
  const costs = (runs: readonly Run[]) => runs.map(run => run.cpuMsPerMegabyte);
  printFigure({ name, unit: 'MB/s', runs: rates(host), baseline: rates(bare) });
  printFigure({ name, unit: 'ms of CPU per MB', runs: costs(host), baseline: costs(bare) });
}

const [, , mode, count, directory] = process.argv;
if (mode === 'bare') copy(Number(count), String(directory));
else for (const writers of WRITERS) await compare(writers);
