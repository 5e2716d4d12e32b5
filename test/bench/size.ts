// A boot and a stop of 5 to 500 services that need nothing of each other: what each costs the host, and the longest
// stall of its loop. The baseline is a bare Node process that spawns and ends the same programs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BuiltHost, cpuMs, makePlace, residentMegabytes, sleepers, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const SIZES = [5, 25, 50, 100, 200, 500];
const LOOK_MS = 100;
const ASK_MS = 10;
const SETTLE_MS = 5_000;
const IDLE_MS = 10_000;

interface Status {
  readonly terminal: boolean;
  readonly phase: string;
}

/** Asks for a small answer again and again; the longest that one took. */
class Stalls {
  #longestMs = 0;
  #ended = false;

  constructor(host: BuiltHost) {
    void this.#ask(host);
  }

  end(): number {
    this.#ended = true;
    return this.#longestMs;
  }

  async #ask(host: BuiltHost): Promise<void> {
    while (!this.#ended) {
      const startedMs = performance.now();
      await host.get('/process/capabilities');
      this.#longestMs = Math.max(this.#longestMs, performance.now() - startedMs);
      await delay(ASK_MS);
    }
  }
}

async function bare(count: number): Promise<void> {
  const startedMs = performance.now();
  const children = Array.from({ length: count }, () => spawn('sleep', ['86400'], { detached: true, stdio: 'ignore' }));
  await Promise.all(children.map(child => once(child, 'spawn')));
  const startMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage();
  const stoppingMs = performance.now();
  const exits = children.map(child => once(child, 'exit'));
  for (const child of children) child.kill();
  await Promise.all(exits);
  console.log(JSON.stringify({ startMs, startCpuMs: (user + system) / 1_000, stopMs: performance.now() - stoppingMs }));
}

interface Bare {
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly stopMs: number;
}

async function bareRun(count: number): Promise<Bare> {
  const file = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, ['--import=tsx', file, 'bare', String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line)) as Bare;
}

async function measure(count: number): Promise<void> {
  const baseline = await bareRun(count);
  const enabled = Object.entries(sleepers(count)).map(([key, block]) => [key, { ...(block as object), enabled: true }]);
  const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };
  const place = await makePlace({ ...Object.fromEntries(enabled), dumb: { startup } });
  const host = await startBuilt(place);
  const beganMs = performance.now();
  const stalls = new Stalls(host);
  const before = await cpuMs(host.pid);
  while (!(await host.get<Status>('/process/startup-status')).terminal) await delay(LOOK_MS);
  const bootMs = performance.now() - beganMs;
  const cpu = (await cpuMs(host.pid)) - before;
  const stallMs = stalls.end();
  await delay(SETTLE_MS);
  const idleBefore = await cpuMs(host.pid);
  await delay(IDLE_MS);
  const idle = ((await cpuMs(host.pid)) - idleBefore) / IDLE_MS;
  const memory = await residentMegabytes(host.pid);
  const stoppingMs = performance.now();
  await host.end('SIGTERM');
  const stopMs = performance.now() - stoppingMs;
  await place.remove();
  const name = `size-${count}`;
  const one = (what: string, unit: string, value: number, base: number): void =>
    printFigure({ name: `${name}-${what}`, unit, runs: [value], baseline: [base] });
  one('boot', 'ms', bootMs, baseline.startMs);
  one('boot-cpu', 'ms of CPU per service', cpu / count, baseline.startCpuMs / count);
  one('boot-stall', 'ms, longest answer', stallMs, 0);
  one('idle', '% of one core', idle * 100, 0);
  one('memory', 'MB resident', memory, 0);
  one('stop', 'ms', stopMs, baseline.stopMs);
}

const [, , mode, given] = process.argv;
if (mode === 'bare') await bare(Number(given));
else for (const count of mode === undefined ? SIZES : [Number(mode)]) await measure(count);
