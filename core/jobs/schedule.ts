// Timers that plugins own: never overlapping, backed off while they fail.
import { Cron } from 'croner';
import type { Owner } from './owner.ts';

const MAX_BACKOFF = 32;

/** Runs `fn` `ms` after its previous run ended; each failure in a row doubles the pause, up to 32 times. */
export function repeat(owner: Owner, ms: number, fn: () => void | Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let ended = false;
  const next = (): void => {
    if (ended) return;
    timer = setTimeout(run, ms * Math.min(2 ** failures, MAX_BACKOFF));
    timer.unref();
  };
  const run = async (): Promise<void> => {
    try {
      await owner.run(fn);
      failures = 0;
    } catch (error) {
      failures += 1;
      owner.fault('timer', error);
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
  try {
    const options = {
      paused: true,
      protect: true,
      unref: true,
      catch: (error: unknown) => owner.fault('timer', error),
    };
    const cron = new Cron(expression, timeZone === undefined ? options : { ...options, timezone: timeZone }, () =>
      owner.run(fn),
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
