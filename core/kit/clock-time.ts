// Formats the time until which a user has to wait.

const MINUTE_MS = 60_000;

/** Such as `2026-07-17 14:53 UTC`: rounded up to a full minute, so that the user does not come back too early. */
export function clockTime(atMs: number): string {
  const minute = new Date(Math.ceil(atMs / MINUTE_MS) * MINUTE_MS);
  return `${minute.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
