// Threads that are in the middle of a call. A native call, such as an SQL statement that never ends, cannot be
// interrupted: while it lasts, neither its thread ends nor a process that exits in order.

/** A call that has lasted this long when the process is to end is not waited for. */
const PATIENCE_MS = 1_000;
const BUSY = Symbol.for('stackwarden.busy-threads');
/**
 * Kept on `process`, because a build has this module twice: with its entry, which ends the process, and with the rest.
 */
const shared = process as typeof process & { [BUSY]?: Map<object, number> };
shared[BUSY] ??= new Map();
const busySinceMs = shared[BUSY];

export function noteBusy(thread: object): void {
  busySinceMs.set(thread, performance.now());
}

export function noteIdle(thread: object): void {
  busySinceMs.delete(thread);
}

/** Whether a process that exits in order might never end. */
export function mayHoldProcess(): boolean {
  const now = performance.now();
  return [...busySinceMs.values()].some(sinceMs => now - sinceMs >= PATIENCE_MS);
}
