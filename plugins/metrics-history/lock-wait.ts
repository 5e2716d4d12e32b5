// Waits for a file that another program has locked, in many short tries, so that reads can run between them.
import { setTimeout as delay } from 'node:timers/promises';

/** How long one try holds up the thread of the database. */
export const TRY_MS = 250;
const PAUSE_MS = 100;
const LIMIT_MS = 15_000;

/**
 * Repeats `write` for up to 15 s while the file is locked; a try that finds it locked must have changed nothing. Throws
 * what `write` throws.
 */
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
