// A part of an open file, and what it holds when gzip, xz or zstd have packed it.
import { spawn } from 'node:child_process';
import { read as readWithCallback } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { Budget } from './budget.ts';
import { ArchiveRefusal, NoUnpacker } from './refusal.ts';

const read = promisify(readWithCallback);

const PIECE_BYTES = 256 * 1024;
/** What a program may use of memory; the usual levels stay below. */
const MEMORY = '256MiB';
const MAX_WORDS = 500;

/** Beginnings that tell what a file is. */
const MAGIC = {
  gzip: Buffer.from([0x1f, 0x8b]),
  xz: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
  zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  bzip2: Buffer.from('BZh'),
} as const;

/** Programs for what Node does not unpack itself, from standard input to standard output. */
const PROGRAMS = {
  xz: { args: ['--decompress', '--stdout', `--memlimit-decompress=${MEMORY}`], from: 'xz-utils' },
  zstd: { args: ['--decompress', '--stdout', '--quiet', `--memory=${MEMORY}`], from: 'zstd' },
} as const;

export class PackedFile {
  readonly #descriptor: number;
  readonly #start: number;
  readonly bytes: number;

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

  async *#pieces(): AsyncGenerator<Buffer> {
    for (let start = 0; start < this.bytes; start += PIECE_BYTES) yield await this.at(start, PIECE_BYTES);
  }

  /** What it holds when unpacked, or as it is when nothing is packed. Counted against the budget. */
  async *unpacked(budget: Budget): AsyncGenerator<Buffer> {
    if (this.bytes === 0) return;
    const count = budget.counterOf(this.bytes);
    for await (const piece of await this.#unpacking()) {
      count(piece.length);
      yield piece;
    }
  }

  async #unpacking(): Promise<AsyncIterable<Buffer>> {
    const head = await this.at(0, MAGIC.xz.length);
    const begins = (kind: keyof typeof MAGIC): boolean => head.subarray(0, MAGIC[kind].length).equals(MAGIC[kind]);
    if (begins('gzip')) return this.#gunzipped();
    if (begins('xz')) return this.#through('xz');
    if (begins('zstd')) return this.#through('zstd');
    if (begins('bzip2')) throw new ArchiveRefusal('it is packed by bzip2, which is not supported');
    return this.#pieces();
  }

  async *#gunzipped(): AsyncGenerator<Buffer> {
    const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
    const filled = pipeline(this.#pieces(), gunzip).catch((error: unknown) => error);
    try {
      yield* gunzip;
    } catch (error) {
      throw new ArchiveRefusal(`it is damaged (${(error as Error).message})`);
    } finally {
      gunzip.destroy();
      await filled;
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
    const filled = pipeline(this.#pieces(), child.stdin).catch((error: unknown) => error);
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
