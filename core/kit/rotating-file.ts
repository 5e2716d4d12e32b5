// A log file with one writer: rotated by size and day, reopened when it is moved; a failure never stops its producer.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Rotation } from '../contract/log.ts';
import { formatDay } from './log-line.ts';

export interface RotatingFileOptions {
  readonly file: string;
  /** Asked before each append, so that a changed setting takes effect at once. */
  readonly rotation: () => Rotation;
  /** User to whom a file that the host opens as root is given. */
  readonly owner?: { readonly uid: number; readonly gid: number } | null;
  /** Receives at most one warning per minute while lines are dropped or the file cannot be rotated. */
  readonly warn: (message: string, error?: unknown) => void;
  /** Whether the file's name contains the date, so that it is not rotated at midnight. Default false. */
  readonly datedName?: boolean;
}

const FILE_MODE = 0o640;
const WARN_INTERVAL_MS = 60_000;

/** The caller awaits each append before the next, because appends must not overlap. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #handle: FileHandle | undefined;
  #inode = 0;
  #bytes = 0;
  #day = '';
  #droppedBytes = 0;
  #lastWarningMs = Number.NEGATIVE_INFINITY;
  #nextRotationMs = Number.NEGATIVE_INFINITY;
  #mustRotate = false;

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

  /** Has the next append begin a new file. */
  rotate(): void {
    this.#mustRotate = true;
  }

  /**
   * Opens, reopens or rotates the file so that `bytes` more can be appended. Afterwards `inode` and `sizeBytes` tell
   * where the next append goes, so that a caller can record that position first. False when the file cannot be written;
   * the bytes then count as dropped.
   */
  async prepare(bytes: number): Promise<boolean> {
    try {
      await this.#reopenIfMoved();
      const isFull = this.#bytes > 0 && this.#bytes + bytes > this.#options.rotation().maxBytes;
      const isNewDay = !this.#options.datedName && this.#bytes > 0 && this.#day !== formatDay(Date.now());
      const mayRotate = performance.now() >= this.#nextRotationMs;
      const isAsked = this.#mustRotate && this.#bytes > 0;
      this.#mustRotate = false;
      if (isAsked || (mayRotate && (isFull || isNewDay)))
        await this.#rotate().catch((error: unknown) => this.#continueUnrotated(error));
      return true;
    } catch (error) {
      await this.#recordLoss(bytes, error);
      return false;
    }
  }

  /** Appends to the prepared file. Bytes that cannot be written are dropped and counted. */
  async append(data: Buffer): Promise<void> {
    if (this.#handle === undefined) return;
    let written = 0;
    try {
      while (written < data.length) {
        const { bytesWritten } = await this.#handle.write(data, written, data.length - written);
        written += bytesWritten;
      }
    } catch (error) {
      written = await this.#truncatePartialLine(data, written);
      await this.#recordLoss(data.length - written, error);
    } finally {
      this.#bytes += written;
    }
  }

  /**
   * Removes a line that was written in part, so that the next one does not follow it. Returns the bytes that remain.
   */
  async #truncatePartialLine(data: Buffer, written: number): Promise<number> {
    const wholeLines = written === 0 ? 0 : data.lastIndexOf(0x0a, written - 1) + 1;
    if (this.#handle === undefined || wholeLines === written) return written;
    return this.#handle.truncate(this.#bytes + wholeLines).then(
      () => wholeLines,
      () => written,
    );
  }

  /** Continues with a log that cannot be renamed, such as a bind-mounted file: a log that grows is better than none. */
  async #continueUnrotated(error: unknown): Promise<void> {
    this.#nextRotationMs = performance.now() + WARN_INTERVAL_MS;
    this.#warnRarely(`${this.#options.file} cannot be rotated and grows`, error);
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
    const handle = await open(file, flags, FILE_MODE);
    const { ino, size, mtimeMs, nlink } = await handle.stat();
    // A hard link may belong to another user, so a file with a second name keeps its owner.
    if (owner != null && nlink === 1 && process.getuid?.() === 0) {
      // A log with the wrong owner is better than none, so the failure is only a warning.
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

  /** Renames the log to `<base>-YYYY-MM-DD_<n>.log`, where 1 is the newest, and deletes the oldest beyond `keep`. */
  async #rotate(): Promise<void> {
    const { file } = this.#options;
    const { keep } = this.#options.rotation();
    const { dir, name, ext } = path.parse(file);
    const base = this.#options.datedName ? name : `${name}-${this.#day}`;
    await this.close();
    const older = await rotatedFiles(file, this.#options);
    const sameDay = older
      .filter(candidate => candidate.startsWith(`${base}_`))
      .sort(compareRotations)
      .reverse();
    for (const candidate of sameDay) {
      await rename(path.join(dir, candidate), path.join(dir, `${base}_${rotationNumber(candidate) + 1}${ext}`));
    }
    await rename(file, path.join(dir, `${base}_1${ext}`));
    const all = await rotatedFiles(file, this.#options);
    const dated = await Promise.all(
      all.map(async candidate => ({ candidate, mtimeMs: await readModifiedMs(path.join(dir, candidate)) })),
    );
    dated.sort((a, b) => b.mtimeMs - a.mtimeMs || compareRotations(a.candidate, b.candidate));
    for (const { candidate } of dated.slice(keep)) await rm(path.join(dir, candidate), { force: true });
    await this.#reopenIfMoved();
  }

  async #recordLoss(bytes: number, error: unknown): Promise<void> {
    this.#droppedBytes += bytes;
    await this.close().catch(() => undefined);
    this.#warnRarely(`${this.#options.file} cannot be written; ${this.#droppedBytes} bytes of log were dropped`, error);
  }

  #warnRarely(message: string, error: unknown): void {
    const now = performance.now();
    if (now - this.#lastWarningMs < WARN_INTERVAL_MS) return;
    this.#lastWarningMs = now;
    this.#options.warn(message, error);
  }
}

/** Names of the rotated files of a log, in no particular order. */
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

/** Time of the last modification in milliseconds; 0 when the file has been removed in between. */
async function readModifiedMs(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

function rotationNumber(file: string): number {
  return Number(/_(\d+)\.[^.]*$/.exec(file)?.[1] ?? 0);
}

function compareRotations(a: string, b: string): number {
  return rotationNumber(a) - rotationNumber(b);
}
