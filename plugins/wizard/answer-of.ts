// What other plugins contribute to onboarding is asked so that one that fails costs the service for which it was asked.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';

/** Throws a Problem that names the plugin where it fails; `what` is what cannot be done without its answer. */
export function answerOf<Value>(plugin: string, what: string, ask: () => Value): Value {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(500, `${what}, because the plugin ${plugin} fails: ${errorText(error)}`, { cause: error });
  }
}
