// A connection to a server that is not trusted: one that sends more than its questions can have for answers is cut off
// before that fills the memory.
import { Socket } from 'node:net';

export class BoundedSocket extends Socket {
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: of all that comes between two calls of `ask`. */
  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  /** Another question begins. */
  ask(): void {
    this.#bytes = 0;
  }

  override push(chunk: Buffer | string | null, encoding?: BufferEncoding): boolean {
    this.#bytes += chunk?.length ?? 0;
    if (this.#bytes <= this.#maxBytes) return super.push(chunk, encoding);
    this.destroy(new Error(`the server sends more than ${this.#maxBytes} bytes`));
    return false;
  }
}
