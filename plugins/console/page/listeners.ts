// Who is told of a change.

export class Listeners<Args extends unknown[] = []> {
  readonly #listeners = new Set<(...args: Args) => void>();

  /** Returns a function that ends it. */
  add(listener: (...args: Args) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(...args: Args): void {
    for (const listener of [...this.#listeners]) listener(...args);
  }
}
