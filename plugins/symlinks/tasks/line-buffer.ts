// Lines that a thread makes, as bytes: without them each line would live as a text until its whole answer is posted.
import type { RawPath } from '../places/raw-path.ts';

const FIRST_BYTES = 1 << 18;

export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;

  /** In bytes. */
  get length(): number {
    return this.#end;
  }

  clear(): void {
    this.#end = 0;
  }

  append(line: RawPath): void {
    const end = this.#end + line.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#bytes.write(line, this.#end, 'latin1');
    this.#end = end;
  }

  /** In memory of its own, which may be transferred. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.subarray(0, this.#end));
  }
}
