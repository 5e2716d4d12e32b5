// Calls what other plugins contribute to onboarding: a contribution that fails refuses only the service it was asked
// for.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';

/** Throws a Problem that names the plugin when `ask` fails; `what` says what cannot be done without the answer. */
export function answerOf<Value>(plugin: string, what: string, ask: () => Value): Value {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(500, `${what}, because the plugin ${plugin} fails: ${errorText(error)}`, { cause: error });
  }
}
