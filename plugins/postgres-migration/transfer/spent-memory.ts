// Frees the buffers that rows have passed through. They lie outside of the heap of V8, which leaves 64 MB of them before it
// looks, in each thread.

const AFTER_BYTES = 8 * 1_024 * 1_024;

export class SpentMemory {
  #bytes = 0;

  /** `bytes` are needed no more. Does nothing in a program that was started without `--expose-gc`. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < AFTER_BYTES) return;
    this.#bytes = 0;
    globalThis.gc?.();
  }
}
