// When a failed delivery is tried again, and when it is given up.

const MAX_PAUSE_S = 21_600;
const MAX_ASKED_PAUSE_S = 3_600;

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly baseSec: number;
}

/** Seconds until the next attempt after `attempts` failures; null to give up. The receiver asks for `askedSec`. */
export function pauseAfter(attempts: number, { maxAttempts, baseSec }: RetryPolicy, askedSec = 0): number | null {
  if (attempts >= maxAttempts) return null;
  const own = Math.min(baseSec * 2 ** (attempts - 1), MAX_PAUSE_S);
  return Math.max(own, askedPause(askedSec));
}

/** The pause that a receiver asks for, at most an hour. */
export function askedPause(askedSec: number): number {
  return Math.min(Math.max(askedSec, 0), MAX_ASKED_PAUSE_S);
}
