// Limits how long something is awaited; the error of a missed deadline says what was late.

/** The longest time of a timer, about 25 days: Node takes a longer one for 1 ms. */
export const MAX_TIMER_MS = 2_147_483_647;

/**
 * Rejects after `ms` milliseconds with an Error that names `what`. The work itself continues, since it cannot be
 * stopped.
 */
export async function withDeadline<Value>(run: () => Value | Promise<Value>, ms: number, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), Math.min(ms, MAX_TIMER_MS));
  });
  try {
    return await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when the work has ended, even by an error, or after `ms` milliseconds. */
export async function endedOrLate(work: Promise<unknown>, ms: number): Promise<void> {
  await withDeadline(() => work, ms, 'the work').catch(() => undefined);
}

/**
 * Gives undefined for work that is not done after `ms` milliseconds. It continues, and who began it reports its failure
 * then.
 */
export async function doneOrLate<Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), Math.min(ms, MAX_TIMER_MS)).unref();
  });
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
