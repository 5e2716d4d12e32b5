// A script of a build with what V8 has compiled of it before: compiling is a third of a start. V8 takes that only for
// its own release and its flags, and compiles anew otherwise.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const SUM_BYTES = 4;

export class CompiledScript {
  readonly #url: URL;
  readonly #textSum: number;
  readonly #script: Script;

  /** Reads the script, whose text is ASCII, and what was kept of it. */
  constructor(url: URL) {
    const text = readFileSync(url);
    this.#url = url;
    this.#textSum = crc32(text);
    const cachedData = keptOf(url, this.#textSum);
    this.#script = new Script(text.toString('latin1'), {
      filename: url.href,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
  }

  /** Whether V8 did without compiling. */
  get isKept(): boolean {
    return this.#script.cachedDataRejected === false;
  }

  /** The value of the script. */
  run(): unknown {
    return this.#script.runInThisContext();
  }

  /** Writes what has been compiled of it so far. */
  async keep(): Promise<void> {
    const data = this.#script.createCachedData();
    await writeFile(keptFile(this.#url), Buffer.concat([data, sumOf(this.#textSum, data)]));
  }
}

/**
 * undefined where there is none that is whole and of this text: V8 compares the text's length alone, and ends the
 * process when it meets what it has not written itself.
 */
function keptOf(url: URL, textSum: number): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(keptFile(url));
  } catch {
    // A build runs as well without.
    return undefined;
  }
  // It comes first, because V8 makes a copy of what does not begin at an even place of the memory.
  const data = kept.subarray(0, -SUM_BYTES);
  return kept.subarray(-SUM_BYTES).equals(sumOf(textSum, data)) ? data : undefined;
}

function keptFile(url: URL): URL {
  return new URL(`${url.href}.compiled`);
}

function sumOf(textSum: number, data: Buffer): Buffer {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(crc32(data, textSum));
  return sum;
}
