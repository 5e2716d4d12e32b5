// The names of one directory, for lookups that mostly come in order. A sorted array is made, searched and thrown away
// at a third of the cost of a map, for which each name would be hashed.
import type { RawPath } from '../places/raw-path.ts';
import { type Entry, inOrder } from './listing.ts';

export class ListedNames {
  /** Sorted. */
  readonly #names: RawPath[];
  readonly #links: Set<RawPath> | undefined;
  /** The index after the last lookup. */
  #next = 0;

  constructor(entries: readonly Entry[]) {
    this.#names = inOrder(entries.map(({ name }) => name));
    const links = entries.filter(entry => entry.isSymbolicLink());
    if (links.length > 0) this.#links = new Set(links.map(({ name }) => name));
  }

  get size(): number {
    return this.#names.length;
  }

  has(name: RawPath): boolean {
    const at = this.#names[this.#next] === name ? this.#next : this.#search(name);
    this.#next = at + 1;
    return this.#names[at] === name;
  }

  isLink(name: RawPath): boolean {
    return this.#links?.has(name) ?? false;
  }

  /** The index of a name, or the one at which it would be inserted. */
  #search(name: RawPath): number {
    let [from, to] = [0, this.#names.length];
    const next = this.#names[this.#next];
    if (next !== undefined && name < next) {
      // A missing name mostly lies between the names of two lookups in a row.
      const before = this.#names[this.#next - 1];
      if (before === undefined || before < name) return this.#next;
      to = this.#next;
    }
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#names[middle] as RawPath) < name) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
