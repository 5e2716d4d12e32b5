// Reads texts that the kernel generates, such as those of /proc: they come from memory, so a synchronous read waits
// neither for a disk nor for a mount. All reads share one buffer, because there are hundreds where many processes run.
import { closeSync, openSync, readSync } from 'node:fs';

const FIRST_BYTES = 64 * 1_024;

/** It grows to the longest text. */
let shared = Buffer.allocUnsafeSlow(FIRST_BYTES);

/** One character for each byte. Throws the system's error when the file cannot be read. */
export function kernelText(file: string): string {
  // The read comes first, because it exchanges the buffer for a long text.
  const length = read(file, true);
  return shared.toString('latin1', 0, length);
}

/**
 * The bytes of a file that the kernel gives in one piece, such as /proc/[pid]/stat; the next read overwrites them.
 * Throws the system's error when the file cannot be read.
 */
export function kernelRecord(file: string): Buffer {
  return shared.subarray(0, read(file, false));
}

/** The same for an open file, from its beginning on. */
export function heldRecord(descriptor: number): Buffer {
  return shared.subarray(0, readSync(descriptor, shared, 0, shared.length, 0));
}

/** Reads the file into the buffer; the number of bytes. A text that comes in pieces ends with an empty one. */
function read(file: string, hasPieces: boolean): number {
  const descriptor = openSync(file, 'r');
  try {
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, shared, length, shared.length - length, null);
      length += count;
      if (count === 0 || !hasPieces) return length;
      if (length === shared.length) shared = Buffer.concat([shared], 2 * length);
    }
  } finally {
    closeSync(descriptor);
  }
}
