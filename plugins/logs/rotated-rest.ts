// What a file still had after a client's position when its log went on in another one.
import { fstat as fstatWithCallback, read as readWithCallback } from 'node:fs';
import { promisify } from 'node:util';
import type { LogSet } from './contract.ts';
import { fileIdOf, redactLines } from './log-page.ts';

const NEWLINE = 0x0a;
const fstat = promisify(fstatWithCallback);
const read = promisify(readWithCallback);

/** Blank where the file is gone, or was read to its end. Of more than `maxBytes` the last whole lines. Closes the set. */
export async function restOf(set: LogSet, fileId: string, cursor: number, maxBytes: number): Promise<string> {
  try {
    for (const { descriptor, sizeBytes } of set.files) {
      if (fileIdOf(await fstat(descriptor)) !== fileId) continue;
      const start = Math.max(cursor, sizeBytes - maxBytes);
      const length = Math.max(0, sizeBytes - start);
      const { buffer, bytesRead } = await read(descriptor, Buffer.alloc(length), 0, length, start);
      const bytes = buffer.subarray(0, bytesRead);
      return await redactLines(start === cursor ? bytes : bytes.subarray(bytes.indexOf(NEWLINE) + 1));
    }
    return '';
  } finally {
    await set.close();
  }
}
