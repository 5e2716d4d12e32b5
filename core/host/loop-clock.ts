// The clock of deadlines: it counts the time in which the event loop got on, so that nobody is late because somebody else
// held the loop. A stall is told with its cause.
import type { Logger } from '../contract/log.ts';

/** Deadlines are looked at so often, all of them at once: a timer for each would cost more than most calls. */
const PROBE_MS = 100;
/** What a turn may be late; more of it is time in which the loop stood still. */
const TOLERANCE_MS = 50;
const BLOCKED_MS = 500;
/** Shorter calls are not worth remembering. */
const LONG_CALL_MS = 100;
/** A deadline up to this keeps the process alive until it has come; a longer one must not. */
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
/** Milliseconds in which the loop got on. */
let progressMs = 0;
let longest: LongCall | undefined;
let lastName: string | undefined;

// From the beginning: made later it would belong to the plugin whose call comes first.
const timer = setInterval(probe, PROBE_MS);
timer.unref();

function probe(): void {
  const now = performance.now();
  const elapsedMs = now - beforeMs;
  beforeMs = now;
  progressMs += Math.min(elapsedMs, PROBE_MS + TOLERANCE_MS);
  if (elapsedMs - PROBE_MS > BLOCKED_MS) {
    const cause = longest === undefined ? `last ran: ${lastName ?? 'the host'}` : `held up by ${longest.name}`;
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

/** From now on stalls are told to this log. */
export function watchEventLoop(log: Logger): () => void {
  logs.add(log);
  return () => logs.delete(log);
}

/** `ms`: how long the call itself held the loop, without what it called of others. */
export function noteCall(plugin: string, what: string, ms: number): void {
  lastName = plugin;
  if (ms > LONG_CALL_MS && ms > (longest?.ms ?? 0)) longest = { name: `${plugin}: ${what}`, ms };
}

/** Comes a little late rather than early. What it returns takes it back. */
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
