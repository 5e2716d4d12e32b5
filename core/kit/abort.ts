// Lets a signal end a wait for work that cannot be stopped itself.

/** Rejects with the signal's reason as soon as it fires; the work itself continues. */
export async function orAborted<Value>(run: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stopListening = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([run(), aborted]);
  } finally {
    stopListening();
  }
}
