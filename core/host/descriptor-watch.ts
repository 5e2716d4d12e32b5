// Looks each second whether descriptors are running out, and tells of the beginning and the end of that.
import type { Logger } from '../contract/log.ts';
import { descriptorShortage, lookAtDescriptors } from '../kit/descriptors.ts';

const INTERVAL_MS = 1_000;

/** Calls `onScarce` at each look while they are running out. The returned function ends the watch. */
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
