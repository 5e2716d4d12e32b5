// Timers and cron schedules of plugins: their runs never overlap, and failing timers back off.
import { Cron } from 'croner';
import { MAX_TIMER_MS } from '../kit/deadline.ts';
import type { Call, Owner } from '../kit/owner.ts';

const MAX_BACKOFF = 32;
/** The least pause that is doubled for a failing timer; without it a timer with a tiny pause would fill the log. */
const MIN_FAILING_MS = 10;
/** A run that takes longer is reported and no longer waited for. */
const DEADLINE_MS = 600_000;

/**
 * Runs `fn` repeatedly, `ms` milliseconds after its previous run ended; each failure in a row doubles the pause (of 10
 * ms at least), up to 32 times.
 */
export function repeat(owner: Owner, ms: number, fn: () => void | Promise<void>): () => void {
  const call: Call = { place: 'timer', what: `timer of ${ms} ms`, deadlineMs: DEADLINE_MS };
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let ended = false;
  const next = (): void => {
    if (ended) return;
    const pauseMs = failures === 0 ? ms : Math.max(ms, MIN_FAILING_MS) * Math.min(2 ** failures, MAX_BACKOFF);
    timer = setTimeout(run, Math.min(pauseMs, MAX_TIMER_MS));
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
 * Runs `fn` at the times of a cron expression, from `resume` on. Times that pass during a run are skipped. Throws an
 * Error when the expression or the time zone (an IANA name; undefined means local time) is invalid.
 */
export function createCron(
  owner: Owner,
  expression: string,
  fn: () => void | Promise<void>,
  timeZone: string | undefined,
): Cron {
  const call: Call = { place: 'timer', what: `schedule ${expression}`, deadlineMs: DEADLINE_MS };
  // Errors are counted and logged by `invoke`, so the scheduler drops them.
  const options = { paused: true, protect: true, unref: true, catch: () => undefined };
  try {
    const cron = new Cron(expression, timeZone === undefined ? options : { ...options, timezone: timeZone }, () =>
      owner.invoke(call, fn),
    );
    // The scheduler checks the time zone on first use only, so this throws for an unknown one.
    cron.nextRun();
    return cron;
  } catch (error) {
    const zone = timeZone === undefined ? '' : ` in the time zone '${timeZone}'`;
    throw new Error(`the schedule '${expression}'${zone} cannot be understood`, { cause: error });
  }
}
