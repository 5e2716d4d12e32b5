// Memory shared by the thread that reads rows and the one that sends them, so that rows need no message and leave no
// garbage. It has two places: one is filled while the content of the other is sent.
const PLACE_BYTES = 512 * 1_024;
const PLACES = 2;

export class SharedRows {
  readonly memory: SharedArrayBuffer;
  #place = 0;

  constructor(memory = new SharedArrayBuffer(PLACE_BYTES * PLACES)) {
    this.memory = memory;
  }

  /** Copies bytes to the next place and gives its offset; undefined when there is no room for them. */
  leave(bytes: Uint8Array): number | undefined {
    if (bytes.length > PLACE_BYTES) return undefined;
    this.#place = (this.#place + 1) % PLACES;
    const at = this.#place * PLACE_BYTES;
    new Uint8Array(this.memory).set(bytes, at);
    return at;
  }

  at(place: number, bytes: number): Uint8Array {
    return new Uint8Array(this.memory, place, bytes);
  }
}
