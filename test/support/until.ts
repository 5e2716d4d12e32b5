// Waits for a condition by checking it repeatedly. Tests wait in no other way.
import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 20;
/**
 * After this time a condition is checked less often, because each check takes processor time from what it waits for.
 */
const SOON_MS = 500;
const LATER_INTERVAL_MS = 60;

export interface UntilOptions {
  readonly timeoutMs?: number;
  /** Default: 20 ms, and 60 ms once the wait has lasted for half a second. */
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
