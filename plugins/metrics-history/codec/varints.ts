// Natural numbers as bytes: a small number takes one byte, and so do up to sixteen zeros in a row. Other bytes may
// stand between the numbers.

const BASE = 128;
const MAX_ZEROS = 16;
/** The greatest length of a number below 2^53. */
const MAX_BYTES = 8;

export class VarintWriter {
  readonly #bytes: number[] = [];
  #zeros = 0;

  put(value: number): void {
    if (value !== 0) {
      this.#endZeros();
      this.#write(value + MAX_ZEROS - 1);
      return;
    }
    if (this.#zeros === MAX_ZEROS) this.#endZeros();
    this.#zeros += 1;
  }

  putBytes(bytes: Uint8Array): void {
    this.put(bytes.length + 1);
    for (const byte of bytes) this.#bytes.push(byte);
  }

  end(): Buffer {
    this.#endZeros();
    return Buffer.from(this.#bytes);
  }

  #endZeros(): void {
    if (this.#zeros > 0) this.#bytes.push(this.#zeros - 1);
    this.#zeros = 0;
  }

  #write(value: number): void {
    let left = value;
    while (left >= BASE) {
      this.#bytes.push((left % BASE) + BASE);
      left = Math.floor(left / BASE);
    }
    this.#bytes.push(left);
  }
}

export class VarintReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #zeros = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Throws an Error when there is no whole number left. */
  take(): number {
    if (this.skipZeros(1) === 1) return 0;
    return this.#read() - MAX_ZEROS + 1;
  }

  /** Skips the zeros that come next, at most `most`. Returns how many it skipped. */
  skipZeros(most: number): number {
    let skipped = 0;
    while (skipped < most) {
      if (this.#zeros === 0) {
        const byte = this.#bytes[this.#at] ?? MAX_ZEROS;
        if (byte >= MAX_ZEROS) break;
        this.#at += 1;
        this.#zeros = byte + 1;
      }
      const count = Math.min(this.#zeros, most - skipped);
      this.#zeros -= count;
      skipped += count;
    }
    return skipped;
  }

  /** Throws an Error when fewer bytes are left than their length says. */
  takeBytes(): Uint8Array {
    const length = this.take() - 1;
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw new Error('the length of bytes is damaged');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  #read(): number {
    const first = this.#bytes[this.#at];
    if (first !== undefined && first < BASE) {
      this.#at += 1;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (let count = 0; count < MAX_BYTES; count += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value += (byte % BASE) * scale;
      if (byte < BASE) return value;
      scale *= BASE;
    }
    throw new Error('the bytes of a number are damaged');
  }
}
