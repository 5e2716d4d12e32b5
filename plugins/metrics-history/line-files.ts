// Files of an earlier program with samples as lines of JSON. They are only read.
import type { FileHandle } from 'node:fs/promises';
import { GuardedDirectory } from '#kit/guarded-directory';

const NAME = /^metrics-\d{8}-\d+\.jsonl$/;
const CHUNK_BYTES = 1_024 * 1_024;
const MAX_LINE_BYTES = 4 * 1_024 * 1_024;
const NEWLINE = 10;

export class LineFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The files in the order of their names; none when the directory is missing. */
  async list(): Promise<{ readonly name: string; readonly bytes: number }[]> {
    const directory = await this.#open();
    if (directory === undefined) return [];
    try {
      const names = (await directory.names()).filter(name => NAME.test(name)).sort();
      const files = await Promise.all(
        names.map(async name => {
          const entry = await directory.stat(name);
          return entry?.isFile() ? [{ name, bytes: entry.size }] : [];
        }),
      );
      return files.flat();
    } finally {
      directory.close();
    }
  }

  /** The lines of a file that are not blank; null for one that is longer than 4 MiB. */
  async *lines(name: string): AsyncGenerator<string | null> {
    const directory = await this.#open();
    if (directory === undefined) return;
    let handle: FileHandle | undefined;
    try {
      handle = await directory.openFile(name, 'read');
      yield* linesOf(handle);
    } finally {
      await handle?.close();
      directory.close();
    }
  }

  async #open(): Promise<GuardedDirectory | undefined> {
    try {
      return await GuardedDirectory.open(this.#directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

async function* linesOf(handle: FileHandle): AsyncGenerator<string | null> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let parts: Buffer[] = [];
  let bytes = 0;
  const line = (): string | null => {
    const text = bytes > MAX_LINE_BYTES ? null : Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    return text;
  };
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    let start = 0;
    while (start < bytesRead) {
      const end = chunk.subarray(0, bytesRead).indexOf(NEWLINE, start);
      const part = chunk.subarray(start, end === -1 ? bytesRead : end);
      bytes += part.length;
      if (bytes <= MAX_LINE_BYTES) parts.push(Buffer.from(part));
      if (end === -1) break;
      start = end + 1;
      const text = line();
      if (text?.trim() !== '') yield text;
    }
  }
  const last = line();
  if (last?.trim() !== '') yield last;
}
