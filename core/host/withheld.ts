// What a dry run withholds: an effect that was asked for and did not happen is no fault of who asked.

/** Those of a process that may only read, and our own. */
const CODES: ReadonlySet<unknown> = new Set(['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED']);

export function withheld(what: string): Error {
  return Object.assign(new Error(`${what} is withheld: nothing is changed here`), { code: 'ERR_ACCESS_DENIED' });
}

/** Looks at the causes too. */
export function isWithheld(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (CODES.has((cause as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
