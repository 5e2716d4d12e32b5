// Listeners of the process that stay when a library removes those of everybody, as some do to be the only one.

// biome-ignore lint/suspicious/noExplicitAny: of any event
type Listener = (...args: any[]) => void;

const events = process as NodeJS.EventEmitter;
const kept = new Map<string | symbol, Listener>();

/** One for each event; a later one takes the place of an earlier one, which can be removed then. */
export function keepListener(event: string, listener: Listener): void {
  if (kept.size === 0) {
    events.on('removeListener', (removed: string | symbol, was: Listener) => {
      if (kept.get(removed) === was) events.on(removed, was);
    });
  }
  kept.set(event, listener);
  events.on(event, listener);
}
