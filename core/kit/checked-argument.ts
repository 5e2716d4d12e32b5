// Refuses what a plugin registers but others could not call, sort or write, before anybody comes upon it.

/** Throws an Error that says `what` is no text. */
export function requireText(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`);
}

export function requireFunction(value: unknown, what: string): void {
  if (typeof value !== 'function') throw new Error(`${what} is no function`);
}

/** `undefined` means the usual one; of what is no number nobody could tell whether it has passed. */
export function requireDeadline(ms: unknown, what: string): void {
  if (ms === undefined || (typeof ms === 'number' && ms >= 0)) return;
  throw new Error(`${what} has a deadline of ${String(ms)} ms; give a number`);
}
