// Threads that are in the middle of a call. A native one, such as a statement of SQL without end, can be interrupted by
// nobody: while it lasts, neither its thread ends nor a process that exits in order.

/** A call that has lasted this long when the process is to end is not waited for. */
const PATIENCE_MS = 1_000;
const BUSY = Symbol.for('stackwarden.busy-threads');
/** A build has this module once with its entry, which ends the process, and once with the rest. */
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
