// The clock of deadlines. It counts the time in which the event loop made progress, so that nobody misses a deadline
// because other code blocked the loop. A stall is logged with its cause.
import type { Logger } from '../contract/log.ts';

/** One interval checks all deadlines, because a timer for each would cost more than most calls. */
const PROBE_MS = 100;
/** A turn may be late by this much; beyond it the loop is taken to have been blocked. */
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

// Created at import: a timer created later would belong to the plugin whose call comes first.
const timer = setInterval(probe, PROBE_MS);
timer.unref();

function probe(): void {
  const now = performance.now();
  const elapsedMs = now - beforeMs;
  beforeMs = now;
  progressMs += Math.min(elapsedMs, PROBE_MS + TOLERANCE_MS);
  if (elapsedMs - PROBE_MS > BLOCKED_MS) {
    const cause = longest === undefined ? 'no call is known that held it' : `held up by ${longest.name}`;
    const text = `the event loop stood still for ${Math.round(elapsedMs - PROBE_MS)} ms; ${cause}`;
    for (const log of logs) log.warn(text);
  }
  longest = undefined;
  for (const deadline of pending) {
    if (deadline.dueMs > progressMs) continue;
    forget(deadline);
    deadline.onLate();
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
