// The lines that a file still had after a client's position when its log was rotated.
import { fstat as fstatWithCallback } from 'node:fs';
import { promisify } from 'node:util';
import type { LogSet } from './contract.ts';
import { fileIdOf, keysBefore, readRange, redactLines } from './log-page.ts';

const NEWLINE = 0x0a;
const fstat = promisify(fstatWithCallback);

/**
 * Gives only whole lines, because a part of a line may not show that it holds a secret. Empty when the file is gone or
 * was read to its end; the last `maxBytes` when there is more. Closes the set.
 */
export async function restOf(set: LogSet, fileId: string, cursor: number, maxBytes: number): Promise<string> {
  try {
    for (const { descriptor, sizeBytes } of set.files) {
      if (fileIdOf(await fstat(descriptor)) !== fileId) continue;
      const wanted = Math.max(cursor, sizeBytes - maxBytes, 0);
      // Reads one byte before, which shows whether a line begins there.
      const start = Math.max(wanted - 1, 0);
      const length = Math.max(sizeBytes - start, 0);
      const bytes = await readRange(descriptor, start, length);
      if (wanted === 0) return await redactLines(bytes);
      const from = bytes.indexOf(NEWLINE) + 1;
      return from === 0 ? '' : await redactLines(bytes.subarray(from), await keysBefore(descriptor, start + from));
    }
    return '';
  } finally {
    await set.close();
  }
}
