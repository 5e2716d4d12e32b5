// Waits for a file that another program has locked, in many short tries: between them, others read.
import { setTimeout as delay } from 'node:timers/promises';

/** How long one try holds the thread of the database up. */
export const TRY_MS = 250;
const PAUSE_MS = 100;
const LIMIT_MS = 15_000;

/** Throws what `write` throws; for a file that is locked only after 15 s. What is tried again has changed nothing. */
export async function whenUnlocked<Value>(write: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'database.busy' || performance.now() >= deadline) throw error;
    }
    await delay(PAUSE_MS);
  }
}
