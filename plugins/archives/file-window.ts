// An open file that is read in large pieces, because the next read mostly lies beside the last one.
import { readSync } from 'node:fs';
import { RandomAccessReader } from 'yauzl';

const WINDOW_BYTES = 64 * 1024;

export class FileWindow extends RandomAccessReader {
  readonly #descriptor: number;
  #start = 0;
  #content = Buffer.alloc(0);

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  /** Bytes at a place, valid until the next call; fewer at the end of the file. */
  at(place: number, bytes: number): Buffer {
    if (place < this.#start || place + bytes > this.#start + this.#content.length) this.#move(place, bytes);
    return this.#content.subarray(place - this.#start, place - this.#start + bytes);
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    let bytesRead: number;
    try {
      bytesRead = this.at(position, length).copy(buffer, offset);
    } catch (error) {
      callback(error as Error);
      return;
    }
    callback(null, bytesRead);
  }

  #move(place: number, bytes: number): void {
    const content = Buffer.allocUnsafe(Math.max(bytes, WINDOW_BYTES));
    let done = 0;
    while (done < content.length) {
      const bytesRead = readSync(this.#descriptor, content, done, content.length - done, place + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    this.#start = place;
    this.#content = content.subarray(0, done);
  }
}
