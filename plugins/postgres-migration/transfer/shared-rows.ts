// Memory in which the thread that reads rows leaves them for the one that sends them, so that neither copies them nor
// has garbage to collect. It has two places: the one is filled while what stands in the other is sent.
const PLACE_BYTES = 512 * 1_024;
const PLACES = 2;

export class SharedRows {
  readonly memory: SharedArrayBuffer;
  #place = 0;

  constructor(memory = new SharedArrayBuffer(PLACE_BYTES * PLACES)) {
    this.memory = memory;
  }

  /** Leaves bytes in the next place, which it gives; undefined when they have no room there. */
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
