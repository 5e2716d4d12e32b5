// Lines that a thread makes, as bytes: without them each line would live as a text until its whole answer is posted.
import type { RawPath } from '../places/raw-path.ts';

const FIRST_BYTES = 1 << 18;
/** Many lines are made bytes in one step, which costs less than one by one. */
const MAX_WAITING_BYTES = 1 << 16;

export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = 0;
  #waiting: RawPath = '';

  /** In bytes. */
  get length(): number {
    return this.#end + this.#waiting.length;
  }

  clear(): void {
    this.#end = 0;
    this.#waiting = '';
  }

  append(line: RawPath): void {
    this.#waiting += line;
    if (this.#waiting.length >= MAX_WAITING_BYTES) this.#write();
  }

  /** In memory of its own, which may be transferred. */
  toBytes(): Uint8Array<ArrayBuffer> {
    this.#write();
    return new Uint8Array(this.#bytes.subarray(0, this.#end));
  }

  #write(): void {
    const end = this.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#end);
      this.#bytes = larger;
    }
    this.#bytes.write(this.#waiting, this.#end, 'latin1');
    this.#end = end;
    this.#waiting = '';
  }
}
