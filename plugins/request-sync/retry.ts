// When a failed replication of a request is tried again.
const HOUR_MS = 3_600_000;

/** Unix milliseconds; null for every poll. A failure in the future, noted while the clock was wrong, counts as now. */
export function retryAtMs(failedAt: string, afterHours: number, nowMs: number): number | null {
  if (afterHours === 0) return null;
  const failedAtMs = Date.parse(failedAt);
  return Math.min(Number.isNaN(failedAtMs) ? 0 : failedAtMs, nowMs) + afterHours * HOUR_MS;
}
