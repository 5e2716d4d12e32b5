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

/** Runs `fn` at the times of a cron expression; a run that is still going on skips the next time. */
export function schedule(owner: Owner, expression: string, fn: () => void | Promise<void>): () => void {
  const cron = new Cron(expression, { protect: true, unref: true, catch: error => owner.fault('timer', error) }, () =>
    owner.run(fn),
  );
  return () => cron.stop();
}
