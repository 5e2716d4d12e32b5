// A part of an open file, and its content unpacked by gzip, xz or zstd.
import { spawn } from 'node:child_process';
import { read as readWithCallback } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import type { Budget } from './budget.ts';
import { ArchiveRefusal, NoUnpacker } from './refusal.ts';
import { UnpackedCopy } from './unpacked-copy.ts';

const read = promisify(readWithCallback);

const PIECE_BYTES = 256 * 1024;
/** How much memory a program may use, which is enough for the usual levels of compression. */
const MEMORY = '256MiB';
const MAX_WORDS = 500;

/** The first bytes of a file, by how it is packed. */
const MAGIC = {
  gzip: Buffer.from([0x1f, 0x8b]),
  xz: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
  zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  bzip2: Buffer.from('BZh'),
} as const;

/** Programs for formats that Node does not unpack itself, from standard input to standard output. */
const PROGRAMS = {
  xz: { args: ['--decompress', '--stdout', `--memlimit-decompress=${MEMORY}`], from: 'xz-utils' },
  zstd: { args: ['--decompress', '--stdout', '--quiet', `--memory=${MEMORY}`], from: 'zstd' },
} as const;

export class PackedFile {
  readonly #descriptor: number;
  readonly #start: number;
  readonly bytes: number;
  /** A complete unpacked copy, kept for formats that take long to unpack. */
  #copy: UnpackedCopy | undefined;
  /** Whether a copy was tried before. If there was no room then, another try is not worth the time. */
  #isTried = false;

  constructor(descriptor: number, start: number, bytes: number) {
    this.#descriptor = descriptor;
    this.#start = start;
    this.bytes = bytes;
  }

  part(start: number, bytes: number): PackedFile {
    return new PackedFile(this.#descriptor, this.#start + start, bytes);
  }

  /** Bytes at a place; fewer at the end. */
  async at(start: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(bytes, this.bytes - start)));
    let done = 0;
    while (done < buffer.length) {
      const { bytesRead } = await read(
        this.#descriptor,
        buffer,
        done,
        buffer.length - done,
        this.#start + start + done,
      );
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return buffer.subarray(0, done);
  }

  /** The content as it is. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (let start = 0; start < this.bytes; start += PIECE_BYTES) yield await this.at(start, PIECE_BYTES);
  }

  /** The unpacked content, or the content as it is if it is not packed. It counts against the budget. */
  async *unpacked(budget: Budget): AsyncGenerator<Buffer> {
    if (this.bytes === 0) return;
    const count = budget.counterOf(this.bytes);
    for await (const piece of await this.#unpacking()) {
      count(piece.length);
      yield piece;
    }
  }

  /** Frees the disk space of the unpacked copy. */
  release(): void {
    this.#copy?.end();
    this.#copy = undefined;
  }

  async #unpacking(): Promise<AsyncIterable<Buffer>> {
    if (this.#copy !== undefined) return new PackedFile(this.#copy.descriptor, 0, this.#copy.bytes).pieces();
    const head = await this.at(0, MAGIC.xz.length);
    const begins = (kind: keyof typeof MAGIC): boolean => head.subarray(0, MAGIC[kind].length).equals(MAGIC[kind]);
    if (begins('gzip')) return this.#inflatedBy(createGunzip({ chunkSize: PIECE_BYTES }));
    if (begins('xz')) return this.#copied(this.#through('xz'));
    if (begins('zstd')) return this.#through('zstd');
    if (begins('bzip2')) throw new ArchiveRefusal('it is packed by bzip2, which is not supported');
    return this.pieces();
  }

  /** The content unpacked by deflate without a header, as in a zip. */
  inflated(): AsyncIterable<Buffer> {
    return this.#inflatedBy(createInflateRaw({ chunkSize: PIECE_BYTES }));
  }

  async *#inflatedBy(inflate: Gunzip | InflateRaw): AsyncGenerator<Buffer> {
    const filled = pipeline(this.pieces(), inflate).catch((error: unknown) => error);
    try {
      yield* inflate;
    } catch (error) {
      throw new ArchiveRefusal(`it is damaged (${(error as Error).message})`);
    } finally {
      inflate.destroy();
      await filled;
    }
  }

  async *#copied(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let copy = this.#isTried ? undefined : UnpackedCopy.begin();
    this.#isTried = true;
    try {
      for await (const piece of pieces) {
        if (copy?.add(piece) === false) {
          copy.end();
          copy = undefined;
        }
        yield piece;
      }
      this.#copy = copy;
      copy = undefined;
    } finally {
      copy?.end();
    }
  }

  async *#through(program: keyof typeof PROGRAMS): AsyncGenerator<Buffer> {
    const { args, from } = PROGRAMS[program];
    const child = spawn(program, args, { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
    let isAbsent = false;
    child.once('error', () => {
      isAbsent = true;
    });
    let words = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(0, MAX_WORDS);
    });
    const closed = new Promise<string | undefined>(resolve => {
      child.once('close', code =>
        resolve(code === 0 ? undefined : `it is damaged (${words.trim().replaceAll(/\s+/g, ' ')})`),
      );
    });
    const filled = pipeline(this.pieces(), child.stdin).catch((error: unknown) => error);
    try {
      yield* child.stdout as AsyncIterable<Buffer>;
      const fault = await closed;
      if (isAbsent)
        throw new NoUnpacker(`it is packed by ${program}, which is not installed; install the package ${from}`);
      if (fault !== undefined) throw new ArchiveRefusal(fault);
    } finally {
      child.kill('SIGKILL');
      child.stdin.destroy();
      await filled;
    }
  }
}
