// What was thrown, and what that says it was caused by: anything can be thrown, so a chain of causes may be a ring, and
// a proxy throws in turn when it is looked at.
import { errorText } from './error-text.ts';

const MAX_CAUSES = 10;

/** The value itself and its causes, as far as they are objects. A chain that is longer, or a ring, is cut. */
export function* causesOf(error: unknown): Generator<object> {
  for (let cause = error, depth = 0; isObject(cause) && depth < MAX_CAUSES; depth += 1) {
    yield cause;
    cause = (cause as { cause?: unknown }).cause;
  }
}

/** As an object whose class and causes can be read; in place of any other, an Error with what can be told of it. */
export function thrownObject(thrown: unknown): object {
  try {
    // Both the look at the class and the reading of causes ask a proxy.
    for (const cause of causesOf(thrown)) void (cause instanceof Error);
    if (isObject(thrown)) return thrown;
  } catch {
    // It cannot be passed on.
  }
  return new Error(errorText(thrown));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
