// Waits for a condition by asking for it repeatedly; tests wait in no other way.
import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 20;
/** What takes longer than this is asked for less often: each time takes processor time of what is waited for. */
const SOON_MS = 500;
const LATER_INTERVAL_MS = 60;

export interface UntilOptions {
  readonly timeoutMs?: number;
  /** Default: a short time, and a longer one when it takes long. */
  readonly intervalMs?: number;
  readonly what?: string;
}

/** Resolves with the first truthy value of `probe`; rejects with its last error, or with `what`, after `timeoutMs`. */
export async function until<Value>(
  probe: () => Value | Promise<Value>,
  { timeoutMs = 60_000, intervalMs, what = 'the condition' }: UntilOptions = {},
): Promise<NonNullable<Value>> {
  const startedMs = performance.now();
  const deadline = startedMs + timeoutMs;
  let failure: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      if (value) return value as NonNullable<Value>;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    await delay(intervalMs ?? (performance.now() - startedMs < SOON_MS ? INTERVAL_MS : LATER_INTERVAL_MS));
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause: failure });
}
