// A list of listeners that are called when something changes.

export class Listeners<Args extends unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Returns a function that removes the listener. */
  add(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(...args: Args): void {
    for (const listener of [...this.#listeners]) listener(...args);
  }
}
