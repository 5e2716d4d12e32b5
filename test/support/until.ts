// Waits for a condition by asking for it repeatedly; tests wait in no other way.
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves with the first truthy value of `probe`; rejects with its last error, or with `what`, after `timeoutMs`. */
export async function until<Value>(
  probe: () => Value | Promise<Value>,
  { timeoutMs = 60_000, intervalMs = 20, what = 'the condition' } = {},
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + timeoutMs;
  let failure: unknown;
  while (performance.now() < deadline) {
    try {
      const value = await probe();
      if (value) return value as NonNullable<Value>;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    await delay(intervalMs);
  }
  throw new Error(`waited ${timeoutMs} ms for ${what}`, { cause: failure });
}
