// Files of an earlier program with samples as lines of JSON. They are only read.
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { reasonText } from '#kit/error-text';
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

  /** The files in the order of their names; none when the directory is missing. Throws a Problem 503. */
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
    } catch (error) {
      throw unreadable(this.#directory, error);
    } finally {
      directory.close();
    }
  }

  /** The lines of a file that are not blank; null for one that is longer than 4 MiB. Throws a Problem 503. */
  async *lines(name: string): AsyncGenerator<string | null> {
    const directory = await this.#open();
    if (directory === undefined) return;
    let handle: FileHandle | undefined;
    try {
      handle = await directory.openFile(name, 'read');
      yield* linesOf(handle);
    } catch (error) {
      throw unreadable(path.join(this.#directory, name), error);
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
      throw unreadable(this.#directory, error);
    }
  }
}

/** Users can mend what the system refuses; any other error stays what it is. */
function unreadable(place: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).errno === undefined) return error;
  const sentence = `${place} cannot be read: ${reasonText(error)}; mend that, or correct dumb.metrics.history_dir`;
  return new Problem(503, sentence, { cause: error });
}

async function* linesOf(handle: FileHandle): AsyncGenerator<string | null> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const lines = new Lines();
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES);
    if (bytesRead === 0) break;
    yield* lines.add(chunk.subarray(0, bytesRead));
  }
  yield* lines.end();
}

/** Divides chunks into lines. */
class Lines {
  /** The parts of the line whose end has not come yet; not all of them when it is too long. */
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Yields the lines that end in the chunk, which may be used again afterwards. */
  *add(chunk: Buffer): Generator<string | null> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      yield* this.end();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  /** Ends the present line, and yields it unless it is blank. */
  *end(): Generator<string | null> {
    const text = this.#bytes > MAX_LINE_BYTES ? null : Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#bytes = 0;
    if (text?.trim() !== '') yield text;
  }

  #append(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= MAX_LINE_BYTES) this.#parts.push(Buffer.from(part));
  }
}
