// Timers that plugins own: never overlapping, backed off while they fail.
import { Cron } from 'croner';
import { runAs } from '../isolate.ts';
import type { Scope } from '../scope.ts';

const MAX_BACKOFF = 32;

/** Runs `fn` `ms` after its previous run ended; each failure in a row doubles the pause, up to 32 times. */
export function repeat(scope: Scope, ms: number, fn: () => void | Promise<void>): () => void {
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
      await runAs(scope, fn);
      failures = 0;
    } catch (error) {
      failures += 1;
      scope.fault('timer', error);
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
export function schedule(scope: Scope, expression: string, fn: () => void | Promise<void>): () => void {
  const cron = new Cron(expression, { protect: true, unref: true, catch: error => scope.fault('timer', error) }, () =>
    runAs(scope, fn),
  );
  return () => cron.stop();
}
