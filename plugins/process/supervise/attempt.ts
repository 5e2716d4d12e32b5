// Steps that are worth a line in the log when they fail, but hold nothing up.
import type { Logger } from '#core';

export async function attempt(log: Logger, failure: string, step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch (error) {
    log.error(failure, error);
  }
}
