// Measures in which turns the event loop got on: time in which it stood still counts for no deadline, and is told with its cause.
import type { Logger } from '../contract/log.ts';

const PROBE_MS = 100;
/** What a turn may be late before the time counts as lost. */
const TOLERANCE_MS = 50;
const BLOCKED_MS = 500;
/** Shorter calls are not worth remembering. */
const LONG_CALL_MS = 100;

interface LongCall {
  readonly name: string;
  readonly ms: number;
}

let timer: NodeJS.Timeout | undefined;
let beforeMs = 0;
let lostMs = 0;
let longest: LongCall | undefined;
let lastName: string | undefined;
const logs = new Set<Logger>();

function probe(): void {
  const now = performance.now();
  const blockedMs = now - beforeMs - PROBE_MS;
  beforeMs = now;
  if (blockedMs > TOLERANCE_MS) lostMs += blockedMs;
  if (blockedMs > BLOCKED_MS) {
    const cause = longest === undefined ? `last ran: ${lastName ?? 'the host'}` : `held up by ${longest.name}`;
    for (const log of logs) log.warn(`the event loop stood still for ${Math.round(blockedMs)} ms; ${cause}`);
  }
  longest = undefined;
}

/** From now on stalls are told to this log. */
export function watchEventLoop(log: Logger): () => void {
  start();
  logs.add(log);
  return () => logs.delete(log);
}

function start(): void {
  if (timer !== undefined) return;
  beforeMs = performance.now();
  timer = setInterval(probe, PROBE_MS);
  timer.unref();
}

/** Milliseconds, since the first call, in which the loop stood still. */
export function lostTime(): number {
  start();
  const late = performance.now() - beforeMs - PROBE_MS;
  return lostMs + (late > TOLERANCE_MS ? late : 0);
}

/** `ms`: how long the call itself held the loop, without what it called of others. */
export function noteCall(plugin: string, what: string, ms: number): void {
  lastName = plugin;
  if (ms > LONG_CALL_MS && ms > (longest?.ms ?? 0)) longest = { name: `${plugin}: ${what}`, ms };
}
