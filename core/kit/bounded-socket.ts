// A connection to a server that is not trusted: it is cut off when the server sends more than an answer can have,
// before that fills the memory.
import { Socket } from 'node:net';

export class BoundedSocket extends Socket {
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes` is the limit for all that comes between two calls of `ask`. */
  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
  }

  /** Begins to count anew, for the answer to another question. */
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
