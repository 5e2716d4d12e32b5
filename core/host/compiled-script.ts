// A script of a build with its V8 code cache, because compiling is a third of a start. V8 accepts the cache only from
// the same release with the same flags, and compiles the script otherwise.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const SUM_BYTES = 4;

export class CompiledScript {
  readonly #url: URL;
  readonly #textSum: number;
  readonly #script: Script;

  /** Reads the script, whose text must be ASCII, and its code cache. */
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

  /** Whether V8 accepted the code cache. */
  get isKept(): boolean {
    return this.#script.cachedDataRejected === false;
  }

  /** The value of the script. */
  run(): unknown {
    return this.#script.runInThisContext();
  }

  /** Writes the code cache of everything that has been compiled so far. */
  async keep(): Promise<void> {
    const data = this.#script.createCachedData();
    await writeFile(keptFile(this.#url), Buffer.concat([data, sumOf(this.#textSum, data)]));
  }
}

/**
 * The code cache; undefined when it is missing, damaged or made from another text. V8 itself compares only the length
 * of the text, and a damaged cache can crash the process.
 */
function keptOf(url: URL, textSum: number): Buffer | undefined {
  let kept: Buffer;
  try {
    kept = readFileSync(keptFile(url));
  } catch {
    // A build also runs without a code cache.
    return undefined;
  }
  // The cache precedes its checksum in the file, because V8 copies data that is not aligned in memory.
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
