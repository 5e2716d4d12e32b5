// The output of one run of a process: reads its append-only spool and writes the service's log. The invariant: every
// complete line of the spool is in that log exactly once, even when the host is killed at any moment.
import { fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { deepEqual } from '#kit/deep-equal';
import { GuardedDirectory } from '#kit/guarded-directory';
import { KeyBlock } from '#kit/key-block';
import type { RotatingFile } from '#kit/rotating-file';
import { completeBytes, MAX_LINE_BYTES, OutputLines, toLines } from './output-lines.ts';
import { type Position, PositionFile, type WaitingRun } from './position.ts';
import { ReadingMemory } from './reading-memory.ts';
import { RecentLines } from './recent-lines.ts';
import { firstPosition } from './recovery.ts';
import type { CaptureTarget, SessionOptions } from './session-options.ts';
import { TargetLogs } from './target-logs.ts';
import type { WaitingRuns } from './waiting-runs.ts';

/** While a program writes all the time, reading pauses for this many times as long as it takes, within these limits. */
const REST_SHARE = 4;
const MIN_REST_MS = 5;
const MAX_REST_MS = 100;
/**
 * How long a hand-over goes on reading; a program may write faster than is read, and the next supervision continues.
 */
const HAND_OVER_MS = 1_000;
/** Size limits of a piece that is read at once: a quarter of a log within these, because its lines go to one file. */
const MIN_CHUNK_BYTES = 256 * 1024;
const MAX_CHUNK_BYTES = 1024 * 1024;
/** Total size of the pieces of all spools that are read at the same time, unless MIN_CHUNK_BYTES makes it more. */
const ALL_CHUNKS_BYTES = 4 * MAX_CHUNK_BYTES;
/** Consumed output is released from the disk in pieces of this size. */
const RELEASE_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 4_096;
/** The seen size of a spool before the first reading, and after one that failed. */
const UNSEEN = -1;
const BLANK = Buffer.alloc(MAX_CHUNK_BYTES);
const MAX_BACKLOG_BYTES = 1024 ** 3;
const HELD_MS = 1_000;

interface Owner {
  released(): void;
  /** Called with a promise that resolves when the files of the session are removed. */
  clears(clearing: Promise<void>): void;
  release(bytes: number): Promise<void>;
  /** Called when this much more of the output is in the logs. */
  took(bytes: number, lines: number): void;
  /** The sessions that are reading now. */
  readonly reading: Set<CaptureSession>;
  readonly waiting: WaitingRuns;
}

export class CaptureSession {
  readonly spoolFile: string;
  readonly #options: SessionOptions;
  readonly #owner: Owner;
  readonly #spool: FileHandle;
  readonly #positions: PositionFile;
  readonly #recent = new RecentLines();
  readonly #logs: TargetLogs;
  #target: CaptureTarget;
  #consumed: number;
  #keys = new KeyBlock();
  /** Number of the next bytes whose lines a full disk did not take. The own log has these lines already. */
  #heldBytes = 0;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether the log for access lines has those of the held bytes. */
  #hasAccess = false;
  /** Number of NULs that were skipped since the last line. */
  #blankBytes = 0;
  #wasEmptied = false;
  #released: number;
  #recorded: Position;
  #toldUnrecorded = false;
  #pumping: Promise<void> | undefined;
  /** Size of the spool when it was last read. */
  #seenBytes = UNSEEN;
  /** Monotonic milliseconds at which the next reading may begin. */
  #restsUntilMs = 0;
  #waking: NodeJS.Timeout | undefined;
  /** Monotonic milliseconds at which reading ends although there may be more. */
  #endsMs = Number.POSITIVE_INFINITY;
  /** Whether `retarget` waits for the end of a reading. */
  #isAwaited = false;
  /** Whether nothing more is written to the spool, so that an unfinished last line is complete. */
  #isFinal = false;
  /** Place among the ended runs that wait for room; 0 when it is none of them. */
  #place = 0;
  #closed = false;

  private constructor(
    spoolFile: string,
    target: CaptureTarget,
    options: SessionOptions,
    owner: Owner,
    files: { spool: FileHandle; positions: PositionFile; last: Position },
  ) {
    this.spoolFile = spoolFile;
    this.#target = target;
    this.#options = options;
    this.#owner = owner;
    this.#spool = files.spool;
    this.#positions = files.positions;
    this.#consumed = files.last.consumedBytes;
    this.#released = files.last.consumedBytes;
    this.#recorded = files.last;
    if (files.last.waiting !== undefined) this.#waitAgain(files.last.waiting);
    this.#logs = new TargetLogs(target, options);
  }

  static async open(
    spoolFile: string,
    target: CaptureTarget,
    options: SessionOptions,
    owner: Owner,
  ): Promise<CaptureSession> {
    const { spool, positions, last: recorded } = await GuardedDirectory.at(spoolFile, openSpool);
    const last = recorded ?? (await firstPosition(spool, positions, target, options).catch(closing(spool, positions)));
    return new CaptureSession(spoolFile, target, options, owner, { spool, positions, last });
  }

  /**
   * Whether the spool has changed since it was read. Synchronous, because the answer comes from the kernel's cache and
   * frequent polling must be cheap.
   */
  hasMore(): boolean {
    if (this.#closed) return false;
    if (this.isHeld) return performance.now() >= this.#heldUntilMs;
    return fstatSync(this.#spool.fd).size !== this.#seenBytes;
  }

  waitingBytes(): number {
    return this.#closed ? 0 : Math.max(0, fstatSync(this.#spool.fd).size - this.#consumed);
  }

  get target(): CaptureTarget {
    return this.#target;
  }

  /** Whether lines wait for room in the log. */
  get isHeld(): boolean {
    return this.#heldBytes > 0;
  }

  /** The line that best explains why the process ended. */
  bestErrorLine(): string | null {
    return this.#recent.bestErrorLine();
  }

  async retarget(target: CaptureTarget): Promise<void> {
    // A program may write faster than its output is read, so that a reading would never end by itself.
    this.#isAwaited = true;
    while (this.#pumping !== undefined) await this.#pumping;
    this.#isAwaited = false;
    this.#target = target;
    await this.#logs.follow(target);
  }

  rotate(): void {
    this.#logs.rotate();
  }

  /** Plans a reading of the spool: at once when it was quiet, otherwise after a rest that lets lines collect. */
  wake(): void {
    const leftMs = Math.max(0, this.#restsUntilMs - performance.now());
    this.#waking ??= setTimeout(() => void this.#read(), leftMs);
  }

  async #read(): Promise<void> {
    const beganMs = performance.now();
    await this.pump();
    const tookMs = performance.now() - beganMs;
    const restMs = Math.min(Math.max(REST_SHARE * tookMs, MIN_REST_MS), MAX_REST_MS);
    const { isHeld } = this;
    this.#restsUntilMs = isHeld ? this.#heldUntilMs : performance.now() + restMs;
    this.#waking = undefined;
    // Notices about writes after the last look at the spool were ignored, because a reading was planned.
    if (!this.#closed && (isHeld || (this.#seenBytes !== UNSEEN && this.hasMore()))) this.wake();
  }

  /**
   * Adds lines of another program to the spool, which then has its place. False when its reading has ended or is about
   * to; synchronous, so that it cannot end meanwhile. Throws when the disk of the spool does not take them all.
   */
  add(lines: Uint8Array): boolean {
    if (this.#closed || this.#isHandedOver) return false;
    const { fd } = this.#spool;
    const { size } = fstatSync(fd);
    try {
      for (let done = 0; done < lines.length; ) done += writeSync(fd, lines, done, lines.length - done, size + done);
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
    this.#place ||= this.#owner.waiting.add(this);
    this.wake();
    return true;
  }

  /** Consumes what the spool contains now. */
  pump(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#pumping !== undefined) return this.#pumping;
    this.#owner.reading.add(this);
    this.#pumping = this.#consume()
      .then(size => {
        this.#seenBytes = size;
        // A machine that lost its power may have lost what was held.
        if (size !== UNSEEN) this.#heldBytes = 0;
      })
      .catch((error: unknown) => {
        this.#seenBytes = UNSEEN;
        this.#options.log.error(`output of ${this.#target.processName} cannot be read`, error);
      })
      .finally(() => {
        this.#owner.reading.delete(this);
        this.#pumping = undefined;
        const isRead = this.#seenBytes === UNSEEN || !this.hasMore();
        if (this.#place > 0 && isRead && !this.isHeld && !this.#isHandedOver) this.#clear();
      });
    return this.#pumping;
  }

  /** Resolves when everything written before the call was consumed. */
  async settled(): Promise<void> {
    await this.#pumping;
    await this.pump();
  }

  /**
   * Consumes the rest, including an unfinished last line. The spool is removed afterwards, so that the replacement of a
   * run does not wait for that; while the disk of the log is full, it is kept.
   */
  async finish(): Promise<void> {
    this.#isFinal = true;
    await this.settled();
    // The next supervision reads what a hand-over leaves unread.
    if (this.#isHandedOver) return;
    if (this.isHeld) await this.#wait();
    else this.#clear();
  }

  /** Goes on until the log has taken everything. */
  async #wait(): Promise<void> {
    if (this.#place === 0) this.#place = this.#owner.waiting.add(this);
    await this.#record(this.#consumed);
    this.wake();
  }

  #waitAgain({ place, heldBytes, hasAccess = true }: WaitingRun): void {
    this.#heldBytes = heldBytes;
    this.#hasAccess = hasAccess;
    if (place === 0) return;
    this.#isFinal = true;
    this.#place = this.#owner.waiting.add(this, place);
  }

  #clear(): void {
    this.#owner.waiting.delete(this);
    if (!this.#closed) this.#owner.clears(this.#removeFiles());
  }

  async #removeFiles(): Promise<void> {
    try {
      await this.#close();
      await rm(this.spoolFile, { force: true });
      await rm(`${this.spoolFile}.position`, { force: true });
    } catch (error) {
      this.#options.log.error(`what was read of the output of ${this.#target.processName} cannot be removed`, error);
    }
  }

  get #isHandedOver(): boolean {
    return this.#endsMs !== Number.POSITIVE_INFINITY;
  }

  async handOver(): Promise<void> {
    this.#endsMs = performance.now() + HAND_OVER_MS;
    await this.settled();
    await this.#close();
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#waking);
    this.#owner.released();
    await this.#pumping;
    await this.#logs.close();
    await this.#positions.close();
    await this.#spool.close();
  }

  /**
   * Resolves with the size of the spool at the last look, or with the bytes consumed so far when there is more to read.
   */
  async #consume(): Promise<number> {
    const memory = new ReadingMemory();
    for (;;) {
      const seenBytes = await this.#consumePiece(memory);
      if (seenBytes !== undefined) return seenBytes;
    }
  }

  /** Consumes the next piece of the spool; undefined when the reading goes on behind it. */
  async #consumePiece(memory: ReadingMemory): Promise<number | undefined> {
    // Synchronous, because a size seen amid `add` would end within a line.
    const { size } = fstatSync(this.#spool.fd);
    if (size < this.#consumed) this.#beginAgain();
    if (size - this.#consumed > MAX_BACKLOG_BYTES) await this.#skipTo(size - MAX_BACKLOG_BYTES / 2);
    if (size <= this.#consumed) return size;
    const bytes = await this.#nextBytes(memory, size);
    const last = this.#consumed + bytes.length >= size;
    if (this.#skipBlank(bytes) && !last) return undefined;
    if (this.#blankBytes > 0) await this.#tellBlank();
    if (this.#consumed >= size) return size;
    const complete = completeBytes(bytes, this.#isFinal && last);
    if (complete === 0) return size;
    const mayDrop = () => this.#owner.waiting.mayDrop(this, size - this.#consumed);
    if (!(await this.#take(bytes.subarray(0, complete), memory, mayDrop))) return UNSEEN;
    if (last) return size;
    return this.#isAwaited || performance.now() >= this.#endsMs ? this.#consumed : undefined;
  }

  /** The next bytes of the spool, which has `size` bytes: those that are held, if any. */
  async #nextBytes(memory: ReadingMemory, size: number): Promise<Buffer> {
    const input = memory.input(Math.min(this.#heldBytes || this.#chunkBytes(), size - this.#consumed));
    const { bytesRead } = await this.#spool.read(input, 0, undefined, this.#consumed);
    return input.subarray(0, bytesRead);
  }

  /** Skips bytes that are all NUL; returns false for any others. */
  #skipBlank(bytes: Buffer): boolean {
    if (bytes.length === 0 || !bytes.equals(BLANK.subarray(0, bytes.length))) return false;
    this.#consumed += bytes.length;
    this.#blankBytes += bytes.length;
    return true;
  }

  /** Writes the lines of these bytes. False when they are held until the log takes them. */
  async #take(bytes: Buffer, memory: ReadingMemory, mayDrop: () => boolean): Promise<boolean> {
    const keys = this.#keys.copy();
    const lines = toLines(bytes, this.#keys);
    if (await this.#write(lines, this.#consumed + bytes.length, { memory, mayDrop })) {
      this.#owner.took(bytes.length, lines.count);
      return true;
    }
    this.#keys = keys;
    this.#heldBytes = bytes.length;
    this.#heldUntilMs = performance.now() + HELD_MS;
    await this.#record(this.#consumed);
    return false;
  }

  #chunkBytes(): number {
    const wanted = Math.min(this.#options.rotation().maxBytes / 4, ALL_CHUNKS_BYTES / this.#owner.reading.size);
    return Math.floor(Math.min(Math.max(wanted, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES));
  }

  /** A program can enlarge its own output without writing anything. */
  async #tellBlank(): Promise<void> {
    const text = `${this.#blankBytes} bytes of output without content were skipped`;
    this.#blankBytes = 0;
    await this.#write(OutputLines.of('WARNING', text), this.#consumed);
  }

  /** A program that opens /dev/stdout again without O_APPEND truncates the spool. */
  #beginAgain(): void {
    this.#consumed = 0;
    this.#released = 0;
    this.#heldBytes = 0;
    // Logged once for each run, because a program may do so without end.
    if (!this.#wasEmptied)
      this.#options.log.warn(`${this.#target.processName} emptied its own output; what was not read yet is lost`);
    this.#wasEmptied = true;
  }

  /**
   * The invariant depends on this order: prepare, record the position and how much is appended, append, record the new
   * position. Another writer of the log waits meanwhile. Without a service log, lines count as consumed when the own log
   * has taken them. False when one of its logs takes nothing for now and the lines may not be dropped.
   */
  async #write(
    all: OutputLines,
    consumedAfter: number,
    {
      memory = new ReadingMemory(),
      mayDrop = () => true,
    }: { readonly memory?: ReadingMemory; readonly mayDrop?: () => boolean } = {},
  ): Promise<boolean> {
    const at = Date.now();
    const isAgain = this.isHeld;
    if (!isAgain) this.#recent.add(all);
    this.#hasAccess &&= isAgain;
    const { access, others: lines } = this.#logs.split(all);
    const { log } = this.#logs;
    const { processName, suppressed, logLevel } = this.#target;
    const ownLevel = this.#options.ownLevel();
    const captured = suppressed ? undefined : memory.own.format(lines, at, processName, ownLevel);
    const delivered = isAgain ? undefined : captured && this.#options.deliver(captured);
    const isSame = captured !== undefined && ownLevel === logLevel;
    const blockOf = () => (isSame ? captured : memory.service.format(lines, at, processName, logLevel)).block;
    const isTaken =
      ((log === null && access.length === 0) || (await this.#owner.waiting.isTurnOf(this))) &&
      (await this.#takeAccess(access, mayDrop)) &&
      (log === null || (await log.inTurn(() => this.#append(log, blockOf(), { consumedAfter, mayDrop: mayDrop() }))));
    if (log === null || !isTaken) await delivered;
    if (!isTaken) return false;
    this.#heldBytes = 0;
    this.#consumed = consumedAfter;
    await this.#record(consumedAfter);
    await delivered;
    if (this.#consumed - this.#released >= RELEASE_BYTES) await this.release();
    return true;
  }

  async #takeAccess(access: Uint8Array, mayDrop: () => boolean): Promise<boolean> {
    this.#hasAccess ||= await this.#logs.takeAccess(access, { mayDrop: mayDrop() });
    return this.#hasAccess;
  }

  async #append(
    log: RotatingFile,
    block: Uint8Array,
    { consumedAfter, mayDrop }: { readonly consumedAfter: number; readonly mayDrop: boolean },
  ): Promise<boolean> {
    try {
      if (await log.prepare(block.length, { mayDrop })) {
        await this.#record(this.#consumed, block.length);
        await log.append(block, { mayDrop });
      }
      await this.#record(consumedAfter);
      return true;
    } catch {
      // RotatingFile has logged the failure, and left the file as it was.
      await this.#record(this.#consumed);
      return false;
    }
  }

  /** Frees the disk space of output that was read, as far as the recorded position says so. */
  async release(): Promise<void> {
    const known = Math.min(this.#consumed, this.#recorded.consumedBytes);
    const bytes = Math.floor(known / BLOCK_BYTES) * BLOCK_BYTES;
    if (this.#closed || bytes <= this.#released) return;
    this.#released = bytes;
    await this.#owner.release(bytes);
  }

  async #record(consumedBytes: number, pendingBytes = 0): Promise<void> {
    const { device: logDevice = 0, inode: logInode = 0, sizeBytes: logBytes = 0 } = this.#logs.log ?? {};
    const logFile = this.#target.logFile ?? '';
    // The lines of bytes behind those that were held are not in the own log yet.
    const heldBytes = consumedBytes === this.#consumed ? this.#heldBytes : 0;
    const waiting = { place: this.#place, heldBytes, hasAccess: this.#hasAccess, target: this.#target };
    const read = { consumedBytes, logDevice, logInode, logBytes, pendingBytes, logFile };
    const position = this.#place > 0 || heldBytes > 0 ? { ...read, waiting } : read;
    if (deepEqual(position, this.#recorded)) return;
    const { warn } = this.#options.log;
    const what = `how far the output of ${this.#target.processName} was read`;
    try {
      await this.#positions.record(position);
    } catch (error) {
      // On a full disk this fails too where a file system writes changes to new blocks.
      if (!this.#toldUnrecorded)
        warn(`${what} cannot be recorded; after a crash some of its lines may stand in its log twice`, error);
      this.#toldUnrecorded = true;
      return;
    }
    this.#recorded = position;
    if (this.#toldUnrecorded) warn(`${what} is recorded again`);
    this.#toldUnrecorded = false;
  }

  /**
   * When a process is faster than the disk for too long, the oldest output is dropped up to the end of a line, and a
   * line in the log says so.
   */
  async #skipTo(offset: number): Promise<void> {
    const { buffer, bytesRead } = await this.#spool.read(Buffer.alloc(MAX_LINE_BYTES), 0, MAX_LINE_BYTES, offset);
    const start = offset + buffer.subarray(0, bytesRead).indexOf(0x0a) + 1;
    this.#heldBytes = 0;
    const text = `${start - this.#consumed} bytes of output were dropped: they came faster than they could be stored`;
    await this.#write(OutputLines.of('WARNING', text), start);
  }
}

async function openSpool(directory: GuardedDirectory, name: string) {
  const spool = await directory.openFile(name, 'keep', 0o600);
  const { positions, last } = await PositionFile.open(directory, `${name}.position`).catch(closing(spool));
  return { spool, positions, last };
}

/** A handler for failures that closes the files and passes the error on. */
function closing(...files: readonly { close(): Promise<void> }[]): (error: unknown) => Promise<never> {
  return async error => {
    await Promise.allSettled(files.map(file => file.close()));
    throw error;
  };
}
