// Formats durations for messages.

/** For example `10 s`, `250 ms` or `15 min`. */
export function durationText(ms: number): string {
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}
