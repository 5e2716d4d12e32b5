// The clock of deadlines: it counts only time in which the event loop made progress, so that no call is late because
// other code blocked the loop. A stall is logged with its cause.
import { AsyncResource } from 'node:async_hooks';
import type { Logger } from '../contract/log.ts';

/** One timer checks all deadlines, because one for each would cost more than most calls. */
const PROBE_MS = 100;
/** The pause between two looks while there is no deadline, so that an idle host sleeps. */
const REST_MS = 1_000;
/** How late a look may be; any longer delay means that the loop was blocked, and does not count as progress. */
const TOLERANCE_MS = 50;
const BLOCKED_MS = 500;
/** Shorter calls are not recorded as causes of a stall. */
const LONG_CALL_MS = 100;
/** A deadline up to this keeps the process alive until it passes; a longer one does not. */
const HOLDS_PROCESS_MS = 30_000;

interface Deadline {
  readonly dueMs: number;
  readonly holds: boolean;
  onLate(): void;
}

interface LongCall {
  readonly name: string;
  readonly ms: number;
}

const pending = new Set<Deadline>();
const logs = new Set<Logger>();
let holding = 0;
let beforeMs = performance.now();
/** Milliseconds in which the loop made progress. */
let progressMs = 0;
let longest: LongCall | undefined;

/** The host's async context, in which timers are started: within a plugin's call they would belong to the plugin. */
const own = new AsyncResource('loop-clock');
let isResting = false;
let timer = schedule();

function schedule(): NodeJS.Timeout {
  const next = own.runInAsyncScope(() => setTimeout(probe, isResting ? REST_MS : PROBE_MS));
  return holding > 0 ? next : next.unref();
}

function probe(): void {
  look();
  isResting = pending.size === 0;
  timer = schedule();
}

function wake(): void {
  clearTimeout(timer);
  look();
  isResting = false;
  timer = schedule();
}

function look(): void {
  const now = performance.now();
  const elapsedMs = now - beforeMs;
  const pauseMs = isResting ? REST_MS : PROBE_MS;
  beforeMs = now;
  progressMs += Math.min(elapsedMs, pauseMs + TOLERANCE_MS);
  // A call may block the loop during a rest and end before the rest does, so that this look is not late.
  const blockedMs = Math.max(elapsedMs - pauseMs, longest?.ms ?? 0);
  if (blockedMs > BLOCKED_MS) {
    const cause = longest === undefined ? 'no call is known that held it' : `held up by ${longest.name}`;
    const text = `the event loop stood still for ${Math.round(blockedMs)} ms; ${cause}`;
    for (const log of logs) log.warn(text);
  }
  longest = undefined;
  tellNextLate();
}

/**
 * Reports one late call at a time, the oldest first: its caller learns of it before the caller's deadline is checked.
 */
function tellNextLate(): void {
  for (const deadline of pending) {
    if (deadline.dueMs > progressMs) continue;
    forget(deadline);
    deadline.onLate();
    setImmediate(tellNextLate);
    return;
  }
}

/** Logs stalls to this log from now on. The returned function ends that. */
export function watchEventLoop(log: Logger): () => void {
  logs.add(log);
  return () => logs.delete(log);
}

/** `ms` is the time for which the call itself held the loop, without nested calls of other plugins. */
export function noteCall(plugin: string, what: string, ms: number): void {
  if (ms > LONG_CALL_MS && ms > (longest?.ms ?? 0)) longest = { name: `${plugin}: ${what}`, ms };
}

/** Calls `onLate` after the limit, up to one probe late but never early. The returned function cancels the deadline. */
export function startDeadline(limitMs: number, onLate: () => void): () => void {
  if (isResting) wake();
  const deadline: Deadline = { dueMs: progressMs + limitMs + PROBE_MS, holds: limitMs <= HOLDS_PROCESS_MS, onLate };
  pending.add(deadline);
  if (deadline.holds) {
    holding += 1;
    if (holding === 1) timer.ref();
  }
  return () => forget(deadline);
}

function forget(deadline: Deadline): void {
  if (!pending.delete(deadline) || !deadline.holds) return;
  holding -= 1;
  if (holding === 0) timer.unref();
}
