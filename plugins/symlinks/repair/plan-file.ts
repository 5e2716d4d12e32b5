// A plan on the disk while it is made and carried out, because a million changes do not fit into memory. The file has
// no name, so that nothing of it stays after a crash.
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { HeldDirectory } from '../places/held-directory.ts';
import type { Places } from '../places/path-rules.ts';
import { rawOf } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { temporaryName } from '../places/temporary-name.ts';
import { BlockWriter } from '../tasks/block-writer.ts';

const CHUNK_BYTES = 1_048_576;
const NEWLINE = '\n'.charCodeAt(0);

export class PlanFile {
  readonly #descriptor: number;
  readonly #writer: BlockWriter;
  #isOpen = true;
  /** The offsets at which parts end. */
  readonly #parts: number[] = [];

  constructor({ stateDir }: Places, runId: string) {
    const directory = HeldDirectory.make(realPlace(rawOf(stateDir)), path.posix.dirname);
    try {
      const file = directory.at(temporaryName(runId));
      this.#descriptor = directory.telling(() => openSync(file, 'wx+', 0o600));
      unlinkSync(file);
      this.#writer = new BlockWriter(this.#descriptor, `the plan in ${stateDir}`);
    } finally {
      directory.close();
    }
  }

  write(lines: Uint8Array): void {
    this.#writer.write(lines);
  }

  endPart(): void {
    this.#writer.flush();
    this.#parts.push(this.#writer.end);
  }

  /** The lines of each part. */
  *parts(): Generator<Iterable<string>> {
    let begin = 0;
    for (const end of this.#parts) {
      yield this.#lines(begin, end);
      begin = end;
    }
  }

  /** Closes the file, which frees its space on the disk. Further calls do nothing. */
  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  *#lines(begin: number, end: number): Generator<string> {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let data = Buffer.alloc(0);
    for (let at = begin; at < end; ) {
      const read = readSync(this.#descriptor, chunk, 0, Math.min(CHUNK_BYTES, end - at), at);
      if (read === 0) throw new Error('the plan is shorter than it was');
      at += read;
      data = Buffer.concat([data, chunk.subarray(0, read)]);
      let from = 0;
      for (let newline = data.indexOf(NEWLINE); newline >= 0; newline = data.indexOf(NEWLINE, from)) {
        yield data.toString('utf8', from, newline);
        from = newline + 1;
      }
      data = data.subarray(from);
    }
  }
}
