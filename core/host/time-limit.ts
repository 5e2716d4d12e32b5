// Limits the time of one outgoing request, part by part.
import { follow } from '../kit/abort.ts';
import { MAX_TIMER_MS } from '../kit/deadline.ts';

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Starts the limit again, with this time. */
  restart(ms: number): void;
  /** Suspends the limit while the reader processes what it has received. */
  pause(): void;
  end(): void;
  /** The error to throw in place of one that the limit caused. */
  explain(error: unknown): unknown;
}

/** The signal aborts when the time is over, or when one of `others` aborts. */
export function limitTime(url: string, firstMs: number, others: readonly (AbortSignal | undefined)[]): TimeLimit {
  const ended = new AbortController();
  const stopFollowing = follow(
    ended,
    others.filter(signal => signal !== undefined),
  );
  let timer: NodeJS.Timeout | undefined;
  let reason: Error | undefined;
  const limit: TimeLimit = {
    signal: ended.signal,
    restart(ms) {
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          reason = new DOMException(`${new URL(url).host} did not answer within ${ms} ms`, 'TimeoutError');
          stopFollowing();
          ended.abort(reason);
        },
        Math.min(ms, MAX_TIMER_MS),
      );
      timer.unref();
    },
    pause: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      stopFollowing();
    },
    explain: error => reason ?? error,
  };
  limit.restart(firstMs);
  return limit;
}
