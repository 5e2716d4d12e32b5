// Timers that plugins own: never overlapping, backed off while they fail.
import { Cron } from 'croner';
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
    timer = setTimeout(run, ms * Math.min(2 ** failures, MAX_BACKOFF));
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

/** Runs `fn` at the times of a cron expression; a run that is still going on skips the next time. */
export function schedule(owner: Owner, expression: string, fn: () => void | Promise<void>): () => void {
  const call: Call = { place: 'timer', what: `schedule ${expression}`, deadlineMs: DEADLINE_MS };
  // What fails was counted and told already.
  const options = { protect: true, unref: true, catch: () => undefined };
  const cron = new Cron(expression, options, () => owner.invoke(call, fn));
  return () => cron.stop();
}
