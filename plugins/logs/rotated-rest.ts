// What earlier files of a rotated log still count for: the lines that one had after a client's position, and a private
// key that one has begun.
import { fstat as fstatWithCallback } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { KeyBlock } from '#kit/key-block';
import type { LogSet } from './contract.ts';
import { fileIdOf, keysBefore, keysByLook, readRange, redactLines } from './log-page.ts';
import type { LogAccess } from './log-places.ts';
import { openRotated } from './rotated-files.ts';

const NEWLINE = 0x0a;
const fstat = promisify(fstatWithCallback);

/**
 * Gives only whole lines, because a part of a line may not show that it holds a secret. Empty when the file is gone or
 * was read to its end; the last `maxBytes` when there is more. Closes the set.
 */
export async function restOf(set: LogSet, fileId: string, cursor: number, maxBytes: number): Promise<string> {
  try {
    const former = (): Promise<KeyBlock> => keysOfFormer(set, fileId);
    for (const { descriptor, sizeBytes } of set.files) {
      if (fileIdOf(await fstat(descriptor)) !== fileId) continue;
      const wanted = Math.max(cursor, sizeBytes - maxBytes, 0);
      // Reads one byte before, which shows whether a line begins there.
      const start = Math.max(wanted - 1, 0);
      const length = Math.max(sizeBytes - start, 0);
      const bytes = await readRange(descriptor, start, length);
      const from = wanted === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      if (wanted > 0 && from === 0) return '';
      return await redactLines(bytes.subarray(from), await keysBefore(descriptor, start + from, former));
    }
    return '';
  } finally {
    await set.close();
  }
}

/** What is known of a private key at the beginning of a file of the log, which the file before it may have begun. */
export async function keysBeforeFile(
  open: () => Promise<FileHandle | null>,
  fileId: string,
  access: LogAccess,
): Promise<KeyBlock> {
  const present = await open();
  if (present === null) return new KeyBlock();
  const set = await openRotated(present, 0, access);
  try {
    return await keysOfFormer(set, fileId);
  } finally {
    await set.close();
  }
}

async function keysOfFormer({ files }: LogSet, fileId: string): Promise<KeyBlock> {
  let file: number | undefined;
  for (const { name, descriptor, sizeBytes } of files) {
    if (file !== undefined) return name.endsWith('.gz') ? keysByLook(file) : keysBefore(descriptor, sizeBytes);
    if (fileIdOf(await fstat(descriptor)) === fileId) file = descriptor;
  }
  return file === undefined ? new KeyBlock() : keysByLook(file);
}
