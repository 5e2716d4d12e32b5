// Lets an AbortSignal end what cannot listen to it itself: a wait, or another controller.
import { setMaxListeners } from 'node:events';

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

/**
 * Aborts the controller with the first of the signals that fires, until the returned function is called.
 * `AbortSignal.any` does so too, but in Node 20 it leaks memory in signals that live on.
 */
export function follow(abort: AbortController, signals: readonly AbortSignal[]): () => void {
  const fired = signals.find(({ aborted }) => aborted);
  if (fired !== undefined) abort.abort(fired.reason);
  if (abort.signal.aborted) return () => undefined;
  const pass = ({ target }: Event): void => {
    stop();
    abort.abort((target as AbortSignal).reason);
  };
  const stop = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', pass);
  };
  for (const signal of signals) {
    // Any number of operations may end with one signal.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', pass);
  }
  return stop;
}
