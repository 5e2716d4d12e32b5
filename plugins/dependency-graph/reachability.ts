// Which items of an order without cycles come after which, directly or through others; one bit for each pair.

/** The items of `sorted` are numbered from 0 on; each comes before all items that `nextOf` gives for it. */
export class Reachability {
  /** The bits of each item; each set has `#width` words. */
  readonly #bits: Uint32Array;
  readonly #width: number;
  readonly #count: number;

  constructor(sorted: readonly number[], nextOf: (item: number) => Iterable<number>) {
    this.#count = sorted.length;
    this.#width = Math.ceil(sorted.length / 32);
    this.#bits = new Uint32Array(this.#count * this.#width);
    for (const item of sorted.toReversed()) for (const next of nextOf(item)) this.#addAll(item, next);
  }

  has(from: number, to: number): boolean {
    return ((Number(this.#bits[from * this.#width + (to >>> 5)]) >>> (to & 31)) & 1) === 1;
  }

  /** Puts `to` after `from`, which must not come after `to`. */
  add(from: number, to: number): void {
    if (this.has(from, to)) return;
    for (let item = 0; item < this.#count; item += 1) if (item === from || this.has(item, from)) this.#addAll(item, to);
  }

  /** Adds `next`, and all that come after it, to those that come after the item. */
  #addAll(item: number, next: number): void {
    const [own, others] = [item * this.#width, next * this.#width];
    for (let word = 0; word < this.#width; word += 1) {
      const at = own + word;
      this.#bits[at] = Number(this.#bits[at]) | Number(this.#bits[others + word]);
    }
    const at = own + (next >>> 5);
    this.#bits[at] = Number(this.#bits[at]) | (1 << (next & 31));
  }
}
