// Keeps listeners of the process when a library removes all listeners of an event, as some do to be the only one.

// biome-ignore lint/suspicious/noExplicitAny: of any event
type Listener = (...args: any[]) => void;

const events = process as NodeJS.EventEmitter;
const kept = new Map<string | symbol, Listener>();
/** Node's own listeners, by which it handles a signal while the signal has listeners. */
let ofNode: readonly (readonly [string, Listener])[] = [];

/** Keeps one listener for each event; a later one replaces the earlier one, which can then be removed. */
export function keepListener(event: string, listener: Listener): void {
  if (kept.size === 0) {
    ofNode = ['newListener', 'removeListener'].flatMap(name =>
      (events.listeners(name) as Listener[]).map(known => [name, known] as const),
    );
    events.on('removeListener', onRemoved);
  }
  kept.set(event, listener);
  events.on(event, listener);
}

/**
 * Adds a removed listener again: at once, for events before the present code has ended, and once more after a removal
 * of all listeners.
 */
function onRemoved(event: string | symbol, was: Listener): void {
  if (kept.get(event) !== was) return;
  events.on(event, was);
  queueMicrotask(restore);
}

/** A removal of the listeners of all events also drops those that were added meanwhile, and those that notice it. */
function restore(): void {
  for (const [event, listener] of [...ofNode, ['removeListener', onRemoved] as const, ...kept])
    if (!events.listeners(event).includes(listener)) events.on(event, listener);
}
