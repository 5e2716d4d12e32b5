// What a caught value says of itself: anything can be thrown, and telling of it must never throw in turn.

const WITHOUT_TEXT = 'an error without a text';

/** The message of an Error, else the value as text. */
export function errorText(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return WITHOUT_TEXT;
  }
}

/** The stack of an Error, blank where it has none that can be read. */
export function errorStack(error: Error): string {
  try {
    return String(error.stack ?? '');
  } catch {
    return '';
  }
}
