// Repeats a question that failed because no descriptor was left: the failure means neither that a process lives nor
// that it is gone.
import { setTimeout as delay } from 'node:timers/promises';
import { lacksDescriptors } from './descriptors.ts';

const PAUSE_MS = 100;
const LIMIT_MS = 10_000;

/** The answer. Throws what `ask` throws; a lack of descriptors only after 10 s. */
export async function askAgain<Value>(ask: () => Value | Promise<Value>): Promise<Value> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!lacksDescriptors(error) || performance.now() >= deadline) throw error;
    }
    await delay(PAUSE_MS);
  }
}
