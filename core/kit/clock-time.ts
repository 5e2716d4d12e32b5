// Times until which somebody is to wait, as people read them.

const MINUTE_MS = 60_000;

/**
 * Such as `2026-07-17 14:53 UTC`: the first full minute that is not before it, because whoever waits must not come
 * early.
 */
export function clockTime(atMs: number): string {
  const minute = new Date(Math.ceil(atMs / MINUTE_MS) * MINUTE_MS);
  return `${minute.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
