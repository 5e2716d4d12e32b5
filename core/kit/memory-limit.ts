// How much memory the host may take: the limit of its container, or the memory of the machine.
import { totalmem } from 'node:os';

/** Bytes that the cgroup of the host allows, at most those of the machine. */
export function memoryLimitBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}
