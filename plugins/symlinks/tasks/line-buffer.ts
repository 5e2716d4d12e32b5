// The lines that a thread makes, collected as bytes: as texts they would all stay in memory until the answer is posted.
import type { RawPath } from '../places/raw-path.ts';

const FIRST_BYTES = 1 << 18;
/** How much text waits to be converted to bytes in one step, which costs less than line by line. */
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

  /** A copy of the bytes, whose memory may be transferred. */
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
