// Listeners of the process that stay when a library removes those of everybody, as some do to be the only one.

// biome-ignore lint/suspicious/noExplicitAny: of any event
type Listener = (...args: any[]) => void;

const events = process as NodeJS.EventEmitter;
const kept = new Map<string | symbol, Listener>();
/** Those by which Node listens to a signal as long as somebody else does. */
let ofNode: readonly (readonly [string, Listener])[] = [];

/** One for each event; a later one takes the place of an earlier one, which can be removed then. */
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

/** At once for what fails before the present code has ended, and once more after a removal of the listeners of all. */
function onRemoved(event: string | symbol, was: Listener): void {
  if (kept.get(event) !== was) return;
  events.on(event, was);
  queueMicrotask(restore);
}

/** Who removes the listeners of all events drops what was added meanwhile too, and those by which that is noticed. */
function restore(): void {
  for (const [event, listener] of [...ofNode, ['removeListener', onRemoved] as const, ...kept])
    if (!events.listeners(event).includes(listener)) events.on(event, listener);
}
