// A log file with one writer: rotated by size and day, reopened when it is moved; a failure never stops its producer.
// Others may write to its directory: no link of theirs is followed, and nothing but a regular file is written.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Rotation } from '../contract/log.ts';
import { lacksDescriptors } from './descriptors.ts';
import { type FileOwner, GuardedDirectory, giveFile } from './guarded-directory.ts';
import { localPlaces } from './local-place.ts';
import { formatDay } from './log-line.ts';

export interface RotatingFileOptions {
  readonly file: string;
  /** Asked before each append, so that a changed setting takes effect at once. */
  readonly rotation: () => Rotation;
  /** The user to whom a host that is root gives the file and the directories that it makes. */
  readonly owner?: FileOwner | null;
  /**
   * Receives at most one warning per minute while lines are dropped or wait, the file cannot be rotated or older ones
   * stay, and one when lines are kept again.
   */
  readonly warn: (message: string, error?: unknown) => void;
  /**
   * Whether the file's name contains the date, so that it is not rotated at midnight: each day has a file of its own.
   * Default false.
   */
  readonly datedName?: boolean;
}

/**
 * Whether bytes are dropped when the disk is full or no descriptor is left. Default true; otherwise the caller writes
 * them again later.
 */
interface WriteOptions {
  readonly mayDrop?: boolean;
}

const WARN_INTERVAL_MS = 60_000;
/**
 * How far the clock of a file server may be ahead. A file from further ahead was written before the clock was set back.
 */
const CLOCK_SLACK_MS = 3_600_000;

/** The latest turn on each file; it never rejects. */
const turns = new Map<string, Promise<void>>();

/**
 * The caller awaits each append before the next, because appends must not overlap. Several services may have one log;
 * their writers take turns by `inTurn`.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  readonly #name: string;
  #directory: GuardedDirectory | undefined;
  #handle: FileHandle | undefined;
  #device = 0;
  #inode = 0;
  #bytes = 0;
  #day = '';
  /** The file that `#day` is about; it stays known while it is closed. */
  #dated = { device: 0, inode: 0 };
  #droppedBytes = 0;
  #lastWarningMs = Number.NEGATIVE_INFINITY;
  #fault: 'none' | 'told' | 'untold' = 'none';
  #nextRotationMs = Number.NEGATIVE_INFINITY;
  #mustRotate = false;
  /** Whether the file lies on a file system that this kernel alone serves. */
  #isLocal = true;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
    this.#name = path.basename(options.file);
  }

  /** Device of the open file; 0 when none could be opened. */
  get device(): number {
    return this.#device;
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
   * Calls `write` when no other writer of the file in this thread is at work. What it prepares stays as it is until it
   * ends: the file is neither rotated nor longer, so that a part of an append can be taken back.
   */
  async inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    const { file } = this.#options;
    const own = Promise.resolve(turns.get(file)).then(write);
    const ended = own.then(
      () => undefined,
      () => undefined,
    );
    turns.set(file, ended);
    await ended;
    if (turns.get(file) === ended) turns.delete(file);
    return own;
  }

  /**
   * Opens, reopens or rotates the file so that `bytes` more can be appended. Afterwards `inode` and `sizeBytes` tell
   * where the next append goes, so that a caller can record that position first. False when the file cannot be written;
   * the bytes then count as dropped. When they may not be dropped, throws the error of a full disk, or that no
   * descriptor is left.
   */
  async prepare(bytes: number, { mayDrop = true }: WriteOptions = {}): Promise<boolean> {
    try {
      const inode = this.#inode;
      await this.#reopenIfMoved();
      const wasMoved = inode !== 0 && inode !== this.#inode;
      const isFull = this.#bytes > 0 && this.#bytes + bytes > this.#options.rotation().maxBytes;
      const isNewDay = !this.#options.datedName && this.#bytes > 0 && this.#day !== formatDay(Date.now());
      const mayRotate = performance.now() >= this.#nextRotationMs;
      const isAsked = this.#mustRotate && this.#bytes > 0 && !wasMoved;
      this.#mustRotate = false;
      if (isAsked || (mayRotate && (isFull || isNewDay)))
        await this.#rotate().catch((error: unknown) => this.#continueUnrotated(error));
      return true;
    } catch (error) {
      if (!mayDrop && isDiskFull(error)) await this.#refuse('there is room', error);
      if (!mayDrop && lacksDescriptors(error)) await this.#refuse('a descriptor is free', error);
      await this.#recordLoss(bytes, error);
      return false;
    }
  }

  /**
   * Appends to the prepared file. Bytes that cannot be written are dropped and counted. Throws the error of a full disk
   * when they may not be dropped; the file is then as it was.
   */
  async append(data: Uint8Array, { mayDrop = true }: WriteOptions = {}): Promise<void> {
    if (this.#handle === undefined) return;
    let written = 0;
    try {
      while (written < data.length) {
        const { bytesWritten } = await this.#handle.write(data, written, data.length - written);
        written += bytesWritten;
      }
      this.#tellRecovery();
    } catch (error) {
      if (!mayDrop && isDiskFull(error) && (await this.#takeBack(written))) {
        written = 0;
        await this.#refuse('there is room', error);
      }
      written = await this.#truncatePartialLine(data, written);
      await this.#recordLoss(data.length - written, error);
    } finally {
      this.#bytes += written;
      // A launched child closes the descriptors that it inherited, and its parent would wait for that on a mount that
      // hangs.
      if (!this.#isLocal) await this.#release();
    }
  }

  /**
   * Prepares the file and appends to it, while its other writers wait. False when the disk is full or no descriptor is
   * left, and the bytes may not be dropped; the failure is logged, and the file as it was.
   */
  write(data: Uint8Array, options: WriteOptions = {}): Promise<boolean> {
    return this.inTurn(async () => {
      try {
        if (await this.prepare(data.length, options)) await this.append(data, options);
        return true;
      } catch (error) {
        if (options.mayDrop !== false) throw error;
        return false;
      }
    });
  }

  async #takeBack(written: number): Promise<boolean> {
    if (written === 0) return true;
    return (this.#handle?.truncate(this.#bytes) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
  }

  async #refuse(until: string, error: unknown): Promise<never> {
    await this.close().catch(() => undefined);
    this.#noteFault(`${this.#options.file} cannot be written; its lines wait until ${until}`, error);
    throw error;
  }

  /**
   * Removes a line that was written in part, so that the next one does not follow it. Returns the bytes that remain.
   */
  async #truncatePartialLine(data: Uint8Array, written: number): Promise<number> {
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
    this.#device = 0;
    this.#inode = 0;
    await this.#release();
  }

  /** Closes the descriptors. Device, inode and size stay known. */
  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#directory?.close();
    this.#directory = undefined;
    await handle?.close();
  }

  async #reopenIfMoved(): Promise<void> {
    if (this.#handle !== undefined && (await this.#isInPlace())) return;
    await this.close();
    const { file, owner = null } = this.#options;
    const isLocal = await localPlaces();
    this.#isLocal = await isLocal(file);
    const directory = await GuardedDirectory.open(path.dirname(file), { owner });
    this.#directory = directory;
    const created = await directory.openFile(this.#name, 'create').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const handle = created ?? (await directory.openFile(this.#name, 'append'));
    this.#handle = handle;
    // A log with the wrong owner is better than none, so the failure is only a warning.
    await giveFile(handle, owner, { isNew: created !== undefined }).catch((error: unknown) =>
      this.#options.warn(`${file} cannot be given to the service user`, error),
    );
    const entry = await handle.stat();
    this.#device = entry.dev;
    this.#inode = entry.ino;
    this.#bytes = entry.size;
    this.#day = this.#dayOf(entry);
    this.#dated = { device: entry.dev, inode: entry.ino };
    // The files of other days were not rotated, which would have done this.
    if (created !== undefined && this.#options.datedName === true) await this.#removeOldest(directory);
  }

  /** The day of what the file contains. */
  #dayOf({ dev, ino, size, mtimeMs }: Stats): string {
    const today = formatDay(Date.now());
    if (size === 0) return today;
    const written = formatDay(mtimeMs);
    if (this.#isLocal) return written;
    // The clock of a file server differs from this machine's, and its files are opened anew for each append: around
    // midnight each would be rotated because its file is of another day.
    if (dev === this.#dated.device && ino === this.#dated.inode) return this.#day;
    // Of several writers, the first that has come to a new day began the file.
    return written < today && this.#day < today ? written : today;
  }

  async #isInPlace(): Promise<boolean> {
    if (this.#directory?.isInPlace() !== true) return false;
    const entry = await this.#directory.stat(this.#name);
    if (entry?.ino !== this.#inode || entry.dev !== this.#device) return false;
    this.#bytes = entry.size;
    return true;
  }

  /** Renames the log to `<base>-YYYY-MM-DD_<n>.log`, where 1 is the newest, and deletes the oldest beyond `keep`. */
  async #rotate(): Promise<void> {
    const { file, datedName = false } = this.#options;
    const { name, ext } = path.parse(file);
    const base = datedName ? name : `${name}-${this.#day}`;
    // The log is closed last: while no descriptor is left, it cannot be opened again.
    const directory = await GuardedDirectory.open(path.dirname(file));
    try {
      const names = await directory.names();
      await this.close();
      const sameDay = rotatedNames(names, file, datedName)
        .filter(candidate => candidate.startsWith(`${base}_`))
        .sort(compareRotations)
        .reverse();
      for (const candidate of sameDay)
        await directory.rename(candidate, `${base}_${rotationNumber(candidate) + 1}${ext}`);
      await directory.rename(this.#name, `${base}_1${ext}`);
      await this.#removeOldest(directory);
    } finally {
      directory.close();
    }
    await this.#reopenIfMoved();
  }

  /** Deletes the oldest files beyond `keep`. One that stays is no reason to write no lines. */
  async #removeOldest(directory: GuardedDirectory): Promise<void> {
    const { file, datedName, rotation } = this.#options;
    try {
      await removeOldest(directory, rotatedNames(await directory.names(), file, datedName), rotation().keep);
    } catch (error) {
      this.#warnRarely(`older files of ${file} cannot be removed`, error);
    }
  }

  async #recordLoss(bytes: number, error: unknown): Promise<void> {
    // The first loss is told at once, even if a warning that lines wait was given just now.
    if (this.#droppedBytes === 0) this.#lastWarningMs = Number.NEGATIVE_INFINITY;
    this.#droppedBytes += bytes;
    await this.close().catch(() => undefined);
    this.#noteFault(`${this.#options.file} cannot be written; ${this.#droppedBytes} bytes of log were dropped`, error);
  }

  #noteFault(message: string, error: unknown): void {
    if (this.#warnRarely(message, error)) this.#fault = 'told';
    else if (this.#fault === 'none') this.#fault = 'untold';
  }

  /** Warns of the end of a fault: at once if its beginning was told, otherwise when the next warning may be given. */
  #tellRecovery(): void {
    if (this.#fault === 'none') return;
    if (this.#fault === 'told') this.#lastWarningMs = Number.NEGATIVE_INFINITY;
    const loss = this.#droppedBytes === 0 ? '' : `; in all ${this.#droppedBytes} bytes of log were dropped`;
    if (this.#warnRarely(`${this.#options.file} is written again${loss}`)) this.#fault = 'none';
  }

  #warnRarely(message: string, error?: unknown): boolean {
    const now = performance.now();
    if (now - this.#lastWarningMs < WARN_INTERVAL_MS) return false;
    this.#lastWarningMs = now;
    this.#options.warn(message, error);
    return true;
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Which of the names in a log's directory are those of its rotated files, in no particular order. */
export function rotatedNames(names: readonly string[], file: string, datedName = false): string[] {
  const { name, ext } = path.parse(file);
  const base = datedName ? name.replace(/-\d{4}-\d\d-\d\d$/, '') : name;
  const pattern = /^-\d{4}-\d\d-\d\d(?:_\d+)?$/;
  return names.filter(
    candidate =>
      candidate.startsWith(`${base}-`) &&
      candidate.endsWith(ext) &&
      candidate !== path.basename(file) &&
      pattern.test(candidate.slice(base.length, candidate.length - ext.length)),
  );
}

/**
 * Keeps the newest of the rotated files. A file from the future counts as the oldest, because it would otherwise stay
 * the newest until its time has come. Anything but a regular file is not the log's, and stays.
 */
async function removeOldest(directory: GuardedDirectory, names: readonly string[], keep: number): Promise<void> {
  const latestMs = Date.now() + CLOCK_SLACK_MS;
  const entries = await Promise.all(names.map(async name => ({ name, entry: await directory.stat(name) })));
  const files = entries.flatMap(({ name, entry }) =>
    entry?.isFile() === true ? [{ name, writtenMs: entry.mtimeMs > latestMs ? 0 : entry.mtimeMs }] : [],
  );
  files.sort((a, b) => b.writtenMs - a.writtenMs || compareRotations(a.name, b.name));
  for (const { name } of files.slice(keep)) await directory.remove(name);
}

function rotationNumber(file: string): number {
  return Number(/_(\d+)(?:\.[^.]*)?$/.exec(file)?.[1] ?? 0);
}

function compareRotations(a: string, b: string): number {
  return rotationNumber(a) - rotationNumber(b);
}
