// Refuses arguments that could not be called, sorted or written later, when a plugin registers them.

/** Throws an Error that says `what` is no text. */
export function requireText(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`);
}

export function requireFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new Error(`${what} is no function`);
}

/** Throws an Error unless the deadline is a number of at least 0, or undefined, which means the usual one. */
export function requireDeadline(ms: unknown, what: string): void {
  if (ms === undefined || (typeof ms === 'number' && ms >= 0)) return;
  throw new Error(`${what} has a deadline of ${String(ms)} ms; give a number`);
}
