// The deadlines of loading count a plugin's own work, not the machine's load: the time in which this thread computed, and
// that in which nothing of the process did.
import { readFileSync } from 'node:fs';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { durationText } from './duration-text.ts';

const TICK_MS = 10;
/** Of a wait longer than this the machine, not the plugin, is the cause. */
const LONGEST_WAIT_MS = 2 * TICK_MS;
/** Other threads that compute for a larger part of a wait are what is waited for. */
const BUSY_SHARE = 0.1;
/** By the clock it ends at this many times its limit, whatever is counted. */
const CLOCK_FACTOR = 30;

/** What was loaded takes too long. */
export class LateLoad extends Error {
  override readonly name = 'LateLoad';
}

export interface LoadLimits {
  readonly ms: number;
  readonly what: string;
  readonly signal: AbortSignal;
  /** It was late by the clock already. */
  readonly isKnownLate?: boolean;
}

/**
 * Rejects when `run` takes longer than `ms`, naming `what`, or when `signal` fires. The work itself cannot be taken back.
 * Most is loaded in time by the clock; only what is not gets that time once more, measured, because measuring is not free.
 */
export function withinLoadTime<Value>(
  run: () => Value | Promise<Value>,
  { ms, what, signal, isKnownLate = false }: LoadLimits,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    let spentMs = 0;
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = (): void => {
      end();
      reject(new Error(`${what} was cut short: the host is stopping`));
    };
    const measure = (): void => {
      let before = reading();
      timer = setInterval(() => {
        const now = reading();
        spentMs += spentBetween(before, now);
        before = now;
        if (spentMs < ms && now.atMs - startedMs < ms * CLOCK_FACTOR) return;
        end();
        reject(new LateLoad(`${what} takes longer than ${durationText(ms)} and is left behind`));
      }, TICK_MS);
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    if (isKnownLate) measure();
    else timer = setTimeout(measure, ms);
    Promise.resolve().then(run).then(resolve, reject).finally(end);
  });
}

interface Reading {
  readonly atMs: number;
  readonly loop: EventLoopUtilization;
  /** Processor time of the whole process. */
  readonly processMs: number;
  /** Processor time of this thread; null where the system does not tell. */
  readonly threadMs: number | null;
}

function reading(): Reading {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    loop: performance.eventLoopUtilization(),
    processMs: (user + system) / 1_000,
    threadMs: threadTime(),
  };
}

function spentBetween(before: Reading, now: Reading): number {
  const { active, idle } = performance.eventLoopUtilization(now.loop, before.loop);
  const processMs = now.processMs - before.processMs;
  const threadMs = now.threadMs === null || before.threadMs === null ? processMs : now.threadMs - before.threadMs;
  const isWaiting = processMs - threadMs < idle * BUSY_SHARE;
  return Math.min(active, threadMs) + (isWaiting ? Math.min(idle, LONGEST_WAIT_MS) : 0);
}

/** The main thread has the number of the process. */
function threadTime(): number | null {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return null;
  }
}
