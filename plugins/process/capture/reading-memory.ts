// Buffers that one reading of a spool uses again for each of its batches.
import { LogBlock } from './log-block.ts';

export class ReadingMemory {
  #input = Buffer.alloc(0);
  /** The block for the own log. */
  readonly own = new LogBlock({ isShared: true });
  /** The block for the service's log, where that takes other levels. */
  readonly service = new LogBlock();

  /** A buffer for bytes of the spool. */
  input(bytes: number): Buffer {
    if (this.#input.length < bytes) this.#input = Buffer.allocUnsafe(bytes);
    return this.#input.subarray(0, bytes);
  }
}
