// A log file with one writer: bounded by size and day, reopened when others move it, and never an obstacle to its producer.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Rotation } from '../contract/log.ts';
import { formatDay } from './log-line.ts';

export interface RotatingFileOptions {
  readonly file: string;
  /** Asked before each append, so that a changed setting acts at once. */
  readonly rotation: () => Rotation;
  readonly owner?: { readonly uid: number; readonly gid: number } | null;
  /** One warning per minute while lines are dropped or the file cannot be rotated. */
  readonly warn: (message: string, error?: unknown) => void;
  /** true: the file's own name holds the day, so midnight is not its concern. Default false. */
  readonly datedName?: boolean;
}

const MODE = 0o640;
const WARN_EVERY_MS = 60_000;

/** Appends must not overlap: each is awaited before the next. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #handle: FileHandle | undefined;
  #inode = 0;
  #bytes = 0;
  #day = '';
  #droppedBytes = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;
  #rotateAgainMs = Number.NEGATIVE_INFINITY;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Inode of the open file; 0 when none could be opened. */
  get inode(): number {
    return this.#inode;
  }

  get sizeBytes(): number {
    return this.#bytes;
  }

  /** Bytes that could not be written since the start. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /**
   * Makes room for `bytes` more: opens, reopens or rotates as needed. After it, `inode` and `sizeBytes` say where the
   * next append goes, so that a caller can record that place before it appends. false: there is nowhere to write.
   */
  async prepare(bytes: number): Promise<boolean> {
    try {
      await this.#reopenIfMoved();
      const full = this.#bytes > 0 && this.#bytes + bytes > this.#options.rotation().maxBytes;
      const overMidnight = !this.#options.datedName && this.#bytes > 0 && this.#day !== formatDay(Date.now());
      const due = performance.now() >= this.#rotateAgainMs;
      if (due && (full || overMidnight)) await this.#rotate().catch((error: unknown) => this.#stay(error));
      return true;
    } catch (error) {
      await this.#lose(bytes, error);
      return false;
    }
  }

  /** Appends to the prepared file; what does not fit on the disk is dropped and counted. */
  async append(data: Buffer): Promise<void> {
    if (this.#handle === undefined) return;
    let written = 0;
    try {
      while (written < data.length) {
        const { bytesWritten } = await this.#handle.write(data, written, data.length - written);
        written += bytesWritten;
      }
    } catch (error) {
      written = await this.#cutFragment(data, written);
      await this.#lose(data.length - written, error);
    } finally {
      this.#bytes += written;
    }
  }

  /** The next line must not stand behind a part of another. Returns how much stays. */
  async #cutFragment(data: Buffer, written: number): Promise<number> {
    const whole = written === 0 ? 0 : data.lastIndexOf(0x0a, written - 1) + 1;
    if (this.#handle === undefined || whole === written) return written;
    return this.#handle.truncate(this.#bytes + whole).then(
      () => whole,
      () => written,
    );
  }

  /** A log that cannot be renamed, as one that is mounted by itself, grows: that is better than none. */
  async #stay(error: unknown): Promise<void> {
    this.#rotateAgainMs = performance.now() + WARN_EVERY_MS;
    this.#complain(`${this.#options.file} cannot be rotated and grows`, error);
    await this.#reopenIfMoved();
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#inode = 0;
    await handle?.close();
  }

  async #reopenIfMoved(): Promise<void> {
    if (this.#handle !== undefined && (await this.#isInPlace())) return;
    await this.close();
    const { file, owner } = this.#options;
    await mkdir(path.dirname(file), { recursive: true });
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const handle = await open(file, flags, MODE);
    const { ino, size, mtimeMs, nlink } = await handle.stat();
    // A second name of the file may lie anywhere, and be somebody else's.
    if (owner != null && nlink === 1 && process.getuid?.() === 0) {
      // A log of the wrong owner is better than none.
      await handle
        .chown(owner.uid, owner.gid)
        .catch((error: unknown) => this.#options.warn(`${file} cannot be given to the service user`, error));
    }
    this.#handle = handle;
    this.#inode = ino;
    this.#bytes = size;
    this.#day = formatDay(size === 0 ? Date.now() : mtimeMs);
  }

  async #isInPlace(): Promise<boolean> {
    try {
      const { ino, size } = await stat(this.#options.file);
      if (ino === this.#inode) this.#bytes = size;
      return ino === this.#inode;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  /** `<base>-YYYY-MM-DD_<n>.log`, 1 being the newest. */
  async #rotate(): Promise<void> {
    const { file } = this.#options;
    const { keep } = this.#options.rotation();
    const { dir, name, ext } = path.parse(file);
    const base = this.#options.datedName ? name : `${name}-${this.#day}`;
    await this.close();
    const older = await rotatedFiles(file, this.#options);
    const sameDay = older
      .filter(candidate => candidate.startsWith(`${base}_`))
      .sort(byNumber)
      .reverse();
    for (const candidate of sameDay) {
      await rename(path.join(dir, candidate), path.join(dir, `${base}_${numberOf(candidate) + 1}${ext}`));
    }
    await rename(file, path.join(dir, `${base}_1${ext}`));
    const all = await rotatedFiles(file, this.#options);
    const dated = await Promise.all(
      all.map(async candidate => ({ candidate, mtimeMs: await changedMs(path.join(dir, candidate)) })),
    );
    dated.sort((a, b) => b.mtimeMs - a.mtimeMs || byNumber(a.candidate, b.candidate));
    for (const { candidate } of dated.slice(keep)) await rm(path.join(dir, candidate), { force: true });
    await this.#reopenIfMoved();
  }

  async #lose(bytes: number, error: unknown): Promise<void> {
    this.#droppedBytes += bytes;
    await this.close().catch(() => undefined);
    this.#complain(`${this.#options.file} cannot be written; ${this.#droppedBytes} bytes of log were dropped`, error);
  }

  #complain(message: string, error: unknown): void {
    const now = performance.now();
    if (now - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = now;
    this.#options.warn(message, error);
  }
}

/** Names of the renamed files of a log, in no order. */
export async function rotatedFiles(
  file: string,
  { datedName = false }: Pick<RotatingFileOptions, 'datedName'> = {},
): Promise<string[]> {
  const { dir, name, ext } = path.parse(file);
  const base = datedName ? name.replace(/-\d{4}-\d\d-\d\d$/, '') : name;
  const pattern = /^-\d{4}-\d\d-\d\d(?:_\d+)?$/;
  return (await readdir(dir)).filter(
    candidate =>
      candidate.startsWith(`${base}-`) &&
      candidate.endsWith(ext) &&
      candidate !== path.basename(file) &&
      pattern.test(candidate.slice(base.length, candidate.length - ext.length)),
  );
}

/** 0 when somebody else has removed it meanwhile. */
async function changedMs(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function numberOf(file: string): number {
  return Number(/_(\d+)\.[^.]*$/.exec(file)?.[1] ?? 0);
}

function byNumber(a: string, b: string): number {
  return numberOf(a) - numberOf(b);
}
