// 50 processes: the time to start, stop and adopt them, and what watching them costs an otherwise idle host.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import { type BuiltHost, cpuMs, makePlace, residentMegabytes, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const COUNT = 50;
const RUNS = 3;
const SETTLE_MS = 15_000;
const IDLE_MS = 20_000;

const names = Array.from({ length: COUNT }, (_, index) => `Sleeper ${index}`);

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

function tellAll(host: BuiltHost, operation: 'start-service' | 'stop-service'): Promise<unknown> {
  return Promise.all(names.map(name => host.post(`/process/${operation}`, { process_name: name })));
}

async function runningCount(host: BuiltHost): Promise<number> {
  const { processes } = await host.get<{ processes: { process_name: string; status: string }[] }>('/process/processes');
  return processes.filter(({ process_name: name, status }) => names.includes(name) && status === 'running').length;
}

/** The time that bare `child_process` needs for as many processes. */
async function bare(): Promise<void> {
  const startedMs = performance.now();
  const children = names.map(() => spawn('sleep', ['86400'], { detached: true, stdio: 'ignore' }));
  await Promise.all(children.map(child => once(child, 'spawn')));
  const startMs = performance.now() - startedMs;
  process.once('SIGTERM', async () => {
    const stopMs = await timed(() => {
      const exits = children.map(child => once(child, 'exit'));
      for (const { pid } of children) if (pid !== undefined) process.kill(-pid, 'SIGTERM');
      return Promise.all(exits);
    });
    process.stdout.write(`${JSON.stringify({ startMs, stopMs })}\n`, () => process.exit(0));
  });
  setInterval(() => undefined, IDLE_MS);
  console.log('up');
}

async function startBare() {
  const child = spawn(process.execPath, ['--import=tsx', fileURLToPath(import.meta.url), 'bare'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    async end(): Promise<{ startMs: number; stopMs: number }> {
      const line = once(child.stdout, 'data');
      child.kill('SIGTERM');
      return JSON.parse(String((await line)[0])) as { startMs: number; stopMs: number };
    },
  };
}

async function operations(): Promise<void> {
  const runs: { start: number; stop: number; adopt: number; empty: number; bareStart: number; bareStop: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const { startMs: bareStart, stopMs: bareStop } = await (await startBare()).end();
    const place = await makePlace(sleepers(COUNT));
    const first = await startBuilt(place);
    const start = await timed(() => tellAll(first, 'start-service'));
    await first.end('SIGKILL');
    const startedMs = performance.now();
    const second = await startBuilt(place);
    await until(async () => (await runningCount(second)) === COUNT, { intervalMs: 5 });
    const adopt = performance.now() - startedMs;
    const stop = await timed(() => tellAll(second, 'stop-service'));
    await second.end('SIGTERM');
    await place.remove();
    runs.push({ start, stop, adopt, empty: first.firstAnswerMs, bareStart, bareStop });
  }
  const all = (pick: keyof (typeof runs)[number]) => runs.map(run => run[pick]);
  const unit = `ms for ${COUNT} processes`;
  printFigure({ name: 'processes-start', unit, runs: all('start'), baseline: all('bareStart') });
  printFigure({ name: 'processes-stop', unit, runs: all('stop'), baseline: all('bareStop') });
  // The baseline is a start of the same host with nothing to adopt.
  printFigure({ name: 'processes-adopt', unit, runs: all('adopt'), baseline: all('empty') });
}

async function idle(): Promise<void> {
  const place = await makePlace(sleepers(COUNT));
  const host = await startBuilt(place);
  await tellAll(host, 'start-service');
  const baseline = await startBare();
  // Garbage collection and compilation after the start are not part of idling.
  await delay(SETTLE_MS);
  const before = [await cpuMs(host.pid), await cpuMs(baseline.pid)] as const;
  await delay(IDLE_MS);
  const used = [(await cpuMs(host.pid)) - before[0], (await cpuMs(baseline.pid)) - before[1]] as const;
  const [hostPercent, barePercent] = used.map(ms => (ms / IDLE_MS) * 100);
  const memory = [await residentMegabytes(host.pid), await residentMegabytes(baseline.pid)] as const;
  await baseline.end();
  await host.end('SIGTERM');
  await place.remove();
  const name = `processes-idle-${COUNT}`;
  printFigure({ name, unit: '% of one core', runs: [hostPercent ?? 0], baseline: [barePercent ?? 0] });
  printFigure({ name, unit: 'MB resident', runs: [memory[0]], baseline: [memory[1]] });
}

if (process.argv[2] === 'bare') await bare();
else {
  await operations();
  await idle();
}
