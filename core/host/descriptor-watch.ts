// Checks every second whether file descriptors are running out, and logs when a shortage begins and ends.
import type { Logger } from '../contract/log.ts';
import { descriptorShortage, lookAtDescriptors } from '../kit/descriptors.ts';

const INTERVAL_MS = 1_000;

/** Calls `onScarce` at each check during a shortage. The returned function ends the watch. */
export function watchDescriptors(log: Logger, onScarce: () => void): () => void {
  let wasScarce = false;
  const look = (): void => {
    const isScarce = lookAtDescriptors();
    if (isScarce && !wasScarce) log.error(descriptorShortage() ?? '');
    if (!isScarce && wasScarce) log.info('file descriptors are free again');
    wasScarce = isScarce;
    if (isScarce) onScarce();
  };
  look();
  const timer = setInterval(look, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
