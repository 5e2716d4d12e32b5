// Texts that the kernel makes, as those of /proc: they come from memory, so that a read waits neither for a disk nor
// for a mount. All reads share one buffer, because looks at many processes make hundreds of them.
import { closeSync, openSync, readSync } from 'node:fs';

const FIRST_BYTES = 64 * 1_024;

/** It grows to the longest text. */
let shared = Buffer.allocUnsafeSlow(FIRST_BYTES);

/** One character for each byte. Throws what the system says when the file cannot be read. */
export function kernelText(file: string): string {
  // A long text has the buffer exchanged, so that the read comes first.
  const length = read(file, true);
  return shared.toString('latin1', 0, length);
}

/**
 * The bytes of a file that the kernel gives in one piece, such as /proc/[pid]/stat; the next read overwrites them.
 * Throws what the system says when the file cannot be read.
 */
export function kernelRecord(file: string): Buffer {
  return shared.subarray(0, read(file, false));
}

/** The same of a file that is open, from its beginning on. */
export function heldRecord(descriptor: number): Buffer {
  return shared.subarray(0, readSync(descriptor, shared, 0, shared.length, 0));
}

/** How many bytes were read. A text of several pieces ends with an empty one. */
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
