// Deadlines for loading plugins. They count the time in which this thread computed or the whole process was idle, so
// that a loaded machine does not make a plugin late.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { threadTimeMs } from '../kit/thread-time.ts';
import { durationText } from './duration-text.ts';

const TICK_MS = 10;
/** No more than this counts of one wait, because the machine, and not the plugin, causes longer ones. */
const LONGEST_WAIT_MS = 2 * TICK_MS;
/**
 * When other threads use more than this share of a wait in processor time, the thread waits for them and not for the
 * plugin.
 */
const BUSY_SHARE = 0.1;
/** After this many times the limit in wall time loading is late in any case. */
const CLOCK_FACTOR = 30;

/** Thrown when loading exceeds its deadline. */
export class LateLoad extends Error {
  override readonly name = 'LateLoad';
}

export interface LoadLimits {
  readonly ms: number;
  readonly what: string;
  readonly signal: AbortSignal;
  /** Whether the wall-time limit has passed already. */
  readonly isKnownLate?: boolean;
}

/**
 * Rejects with an Error that names `what` when `run` takes longer than `ms`, or when `signal` aborts. The work itself
 * cannot be stopped. Because measuring has a cost, it begins only after `ms` of wall time, and counts `ms` from then
 * on.
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
  /** Processor time of this thread; null where the system does not report it. */
  readonly threadMs: number | null;
}

function reading(): Reading {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    loop: performance.eventLoopUtilization(),
    processMs: (user + system) / 1_000,
    threadMs: threadTimeMs(process.pid),
  };
}

function spentBetween(before: Reading, now: Reading): number {
  const { active, idle } = performance.eventLoopUtilization(now.loop, before.loop);
  const processMs = now.processMs - before.processMs;
  const threadMs = now.threadMs === null || before.threadMs === null ? processMs : now.threadMs - before.threadMs;
  const isWaiting = processMs - threadMs < idle * BUSY_SHARE;
  return Math.min(active, threadMs) + (isWaiting ? Math.min(idle, LONGEST_WAIT_MS) : 0);
}
