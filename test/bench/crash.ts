// The time from the death of a process to its running replacement, without a pause between. The baseline is a bare Node
// process that spawns the same program again when it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNS = 10;
const LOOK = { intervalMs: 2 };
/**
 * The pause between two deaths. The host observes a start for 2 s, and counts an end in that time as a failed start.
 */
const PAUSE_MS = 2_500;
const BARE_PAUSE_MS = 300;
const MS_PER_S = 1_000;

/** A program that appends its pid and the time in seconds to a file when it starts. */
function program(file: string): readonly [string, ...string[]] {
  return ['bash', '-c', `echo $$ $EPOCHREALTIME >> ${file}; exec sleep 86400`];
}

interface Start {
  readonly pid: number;
  readonly atMs: number;
}

async function startsIn(file: string): Promise<Start[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const [pid, seconds] = line.split(' ').map(Number);
      return { pid: pid ?? 0, atMs: (seconds ?? 0) * MS_PER_S };
    });
}

/** Milliseconds from each death to the first line of the replacement. */
async function witness(file: string, pauseMs: number): Promise<number[]> {
  const results: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const last = await until(async () => (await startsIn(file))[run], LOOK);
    await delay(pauseMs);
    const diedMs = performance.timeOrigin + performance.now();
    process.kill(last.pid, 'SIGKILL');
    const next = await until(async () => (await startsIn(file))[run + 1], LOOK);
    results.push(next.atMs - diedMs);
  }
  return results;
}

async function measureBare(directory: string): Promise<number[]> {
  const file = path.join(directory, 'bare');
  const server = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), file], { stdio: 'inherit' });
  try {
    return await witness(file, BARE_PAUSE_MS);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}

function replaceAlways(file: string): void {
  let child: ChildProcess;
  const [name, ...args] = program(file);
  const start = (): void => {
    child = spawn(name, args, { detached: true, stdio: 'ignore' });
    child.once('exit', start);
  };
  process.once('SIGTERM', () => {
    child.kill('SIGKILL');
    process.exit(0);
  });
  start();
}

async function measureHost(directory: string): Promise<number[]> {
  const file = path.join(directory, 'host');
  const place = await makePlace({
    crashing: { enabled: true, process_name: 'Crashing', command: program(file), config_dir: '/' },
    dumb: {
      startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      auto_restart: {
        enabled: true,
        backoff_seconds: [0],
        max_restarts: 2 * RUNS,
        services: [{ process_name: 'Crashing' }],
      },
    },
  });
  const host = await startBuilt(place);
  try {
    await until(async () => (await host.get<{ terminal: boolean }>('/process/startup-status')).terminal);
    return await witness(file, PAUSE_MS);
  } finally {
    await host.end('SIGTERM');
    await place.remove();
  }
}

const [, , given] = process.argv;
if (given !== undefined) replaceAlways(given);
else {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-crash-'));
  // The service runs as another user, who must be able to write there.
  await chmod(directory, 0o777);
  const baseline = await measureBare(directory);
  printFigure({ name: 'crash', unit: 'ms to the replacement', runs: await measureHost(directory), baseline });
  await rm(directory, { recursive: true, force: true });
}
