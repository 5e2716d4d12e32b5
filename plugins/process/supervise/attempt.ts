// Runs a step whose failure is logged but stops nothing else.
import type { Logger } from '#core';

export async function attempt(log: Logger, failure: string, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    log.error(failure, error);
  }
}
