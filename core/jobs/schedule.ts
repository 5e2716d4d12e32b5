// Timers that plugins own: never overlapping, backed off while they fail.
import { Cron } from 'croner';
import { MAX_TIMER_MS } from '../kit/deadline.ts';
import type { Call, Owner } from '../kit/owner.ts';

const MAX_BACKOFF = 32;
/** A run that takes longer is left behind, and the next one has its turn. */
const DEADLINE_MS = 600_000;

/** Runs `fn` `ms` after its previous run ended; each failure in a row doubles the pause, up to 32 times. */
export function repeat(owner: Owner, ms: number, fn: () => void | Promise<void>): () => void {
  const call: Call = { place: 'timer', what: `timer of ${ms} ms`, deadlineMs: DEADLINE_MS };
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let ended = false;
  const next = (): void => {
    if (ended) return;
    timer = setTimeout(run, Math.min(ms * Math.min(2 ** failures, MAX_BACKOFF), MAX_TIMER_MS));
    timer.unref();
  };
  const run = async (): Promise<void> => {
    try {
      await owner.invoke(call, fn);
      failures = 0;
    } catch {
      failures += 1;
    }
    next();
  };
  next();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/**
 * The times of a cron expression; nothing runs before `resume`. A run that is still going on skips the times that pass.
 * Throws an Error when the expression or the time zone (an IANA name; undefined: local time) cannot be understood.
 */
export function createCron(
  owner: Owner,
  expression: string,
  fn: () => void | Promise<void>,
  timeZone: string | undefined,
): Cron {
  const call: Call = { place: 'timer', what: `schedule ${expression}`, deadlineMs: DEADLINE_MS };
  // What fails was counted and told already.
  const options = { paused: true, protect: true, unref: true, catch: () => undefined };
  try {
    const cron = new Cron(expression, timeZone === undefined ? options : { ...options, timezone: timeZone }, () =>
      owner.invoke(call, fn),
    );
    // An unknown time zone shows at the first use only.
    cron.nextRun();
    return cron;
  } catch (error) {
    const zone = timeZone === undefined ? '' : ` in the time zone '${timeZone}'`;
    throw new Error(`the schedule '${expression}'${zone} cannot be understood`, { cause: error });
  }
}

/** Whether `name` is an IANA time zone that this system knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
