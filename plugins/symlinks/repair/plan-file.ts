// A plan on the disk while it is made and carried out: a file without a name, because a million changes do not fit into
// memory, and nothing of it is to stay.
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { HeldDirectory } from '../places/held-directory.ts';
import type { Places } from '../places/path-rules.ts';
import { rawOf } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { temporaryName } from '../places/temporary-name.ts';

const CHUNK_BYTES = 1_048_576;
const NEWLINE = '\n'.charCodeAt(0);

export class PlanFile {
  readonly #descriptor: number;
  #end = 0;
  #unwritten = '';
  /** Where parts end. */
  readonly #parts: number[] = [];

  constructor({ stateDir }: Places, runId: string) {
    const directory = HeldDirectory.make(realPlace(rawOf(stateDir)), path.posix.dirname);
    try {
      const file = directory.at(temporaryName(runId));
      this.#descriptor = openSync(file, 'wx+', 0o600);
      unlinkSync(file);
    } finally {
      directory.close();
    }
  }

  write(lines: string): void {
    this.#unwritten += lines;
    if (this.#unwritten.length > CHUNK_BYTES) this.#flush();
  }

  endPart(): void {
    this.#flush();
    this.#parts.push(this.#end);
  }

  /** The lines of each part. */
  *parts(): Generator<Iterable<string>> {
    let begin = 0;
    for (const end of this.#parts) {
      yield this.#lines(begin, end);
      begin = end;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#unwritten, 'utf8');
    this.#unwritten = '';
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#descriptor, bytes, done, bytes.length - done, this.#end + done);
    this.#end += bytes.length;
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
