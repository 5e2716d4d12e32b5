// When something that failed is tried again.
const HOUR_MS = 3_600_000;

/** Unix milliseconds; null at every poll. A time in the future, of a clock that was wrong, counts as now. */
export function retryAtMs(failedAt: string, afterHours: number, nowMs: number): number | null {
  if (afterHours === 0) return null;
  const failedAtMs = Date.parse(failedAt);
  return Math.min(Number.isNaN(failedAtMs) ? 0 : failedAtMs, nowMs) + afterHours * HOUR_MS;
}
