// Captures output: each process writes to its own append-only spool file, which a session of its own reads. `Capture`
// knows all sessions, wakes them, and watches the disk of their spools.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { askAgain } from '#kit/ask-again';
import { deepEqual } from '#kit/deep-equal';
import { makeDirectory } from '#kit/make-directory';
import { CaptureSession } from './capture-session.ts';
import { ForeignLines } from './foreign-lines.ts';
import { HolePuncher, PunchImpossible } from './hole-puncher.ts';
import { undoAllUnrecorded } from './recovery.ts';
import type { CaptureTarget, SessionOptions } from './session-options.ts';
import { type SpoolFault, SpoolSpace } from './spool-space.ts';
import { SpoolWatch } from './spool-watch.ts';
import { WaitingRuns } from './waiting-runs.ts';

/** Interval at which missed writes and the disk of the spools are checked. */
const LOOK_MS = 1_000;
/**
 * The kernel drops notices of writes only when there are many: while none come, spools are checked only at each fifth
 * look.
 */
const QUIET_LOOKS = 5;

export interface CaptureOptions extends SessionOptions {
  /** The directory of the spools. */
  readonly directory: string;
  /** Called when the disk of the spools takes nothing, and with null when it does again. */
  readonly onFault: (fault: SpoolFault | null) => void;
}

/** Figures of all captured output. */
export interface SpoolFigures {
  readonly files: number;
  /** Bytes that were written and are not in the logs yet. */
  readonly waitingBytes: number;
  /** Bytes and lines that were read since the thread began. */
  readonly readBytes: number;
  readonly readLines: number;
}

export class Capture {
  readonly #options: CaptureOptions;
  /** Sessions by the name of their spool. */
  readonly #sessions = new Map<string, CaptureSession>();
  readonly #reading = new Set<CaptureSession>();
  readonly #waiting = new WaitingRuns(() => this.#sessions.values());
  /** Lines of other programs by the name of the process. */
  readonly #foreign = new Map<string, ForeignLines>();
  /** Names of spools that are not to be removed: they are read, or wait for the next host to read them. */
  readonly #kept = new Set<string>();
  /** What the end waits for. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #space: SpoolSpace;
  readonly #puncher: HolePuncher;
  /** The recovery after a kill, which comes before anything else is written to a log. */
  #recovered: Promise<void> | undefined;
  #watch: SpoolWatch | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** Number of looks since the last write that was noticed or found. */
  #quietLooks = 0;
  #punches = true;
  #toldPunchFailure = false;
  #isClosed = false;
  #readBytes = 0;
  #readLines = 0;

  constructor(options: CaptureOptions) {
    this.#options = options;
    this.#space = new SpoolSpace(options.directory, options.onFault);
    this.#puncher = new HolePuncher(options.directory);
  }

  /** Continues from the recorded position when the spool exists already. */
  async open(target: CaptureTarget, spoolFile: string): Promise<CaptureSession> {
    await makeDirectory(this.#options.directory, { mode: 0o700 });
    this.#begin();
    await this.#recover();
    return this.#sessions.get(path.basename(spoolFile)) ?? (await this.#open(target, spoolFile));
  }

  async #open(target: CaptureTarget, spoolFile: string): Promise<CaptureSession> {
    const name = path.basename(spoolFile);
    this.#kept.add(name);
    const session = await CaptureSession.open(spoolFile, target, this.#options, {
      released: () => {
        this.#sessions.delete(name);
        this.#kept.delete(name);
      },
      clears: clearing => void this.#await(clearing),
      release: bytes => this.#release(name, bytes),
      took: (bytes, lines) => {
        this.#readBytes += bytes;
        this.#readLines += lines;
      },
      reading: this.#reading,
      waiting: this.#waiting,
    });
    this.#sessions.set(name, session);
    session.wake();
    return session;
  }

  /**
   * Writes lines of another program into the logs of a process. While the disk of its log is full, they wait in a
   * spool, which gets the given name unless there is one.
   */
  write(target: CaptureTarget, texts: readonly string[], spoolFile: string): Promise<void> {
    return this.#await(this.#recover().then(() => this.#foreignLines(target).write(texts, spoolFile)));
  }

  #foreignLines(target: CaptureTarget): ForeignLines {
    const known = this.#foreign.get(target.processName);
    if (known !== undefined && deepEqual(known.target, target)) return known;
    const lines = new ForeignLines(target, this.#options, {
      hasEarlier: () => this.#waiting.hasAny(target),
      // The own log has the lines already, and none of them is an access line of a proxy.
      open: spoolFile => this.#openForeign({ ...target, suppressed: true, accessLogFile: null }, spoolFile),
    });
    this.#foreign.set(target.processName, lines);
    return lines;
  }

  /** A full disk still takes empty files, so those of a new spool whose position it did not take are removed. */
  async #openForeign(target: CaptureTarget, spoolFile: string): Promise<CaptureSession> {
    const name = path.basename(spoolFile);
    const isNew = !this.#kept.has(name);
    try {
      return await this.open(target, spoolFile);
    } catch (error) {
      if (isNew) {
        this.#kept.delete(name);
        for (const file of [spoolFile, `${spoolFile}.position`]) await rm(file, { force: true }).catch(() => undefined);
      }
      throw error;
    }
  }

  #recover(): Promise<void> {
    this.#recovered ??= this.#recoverAll();
    return this.#recovered;
  }

  /** Goes on with the ended runs whose last lines an earlier host could not write. Never throws. */
  async #recoverAll(): Promise<void> {
    const { directory, log } = this.#options;
    for (const { spoolFile, target } of await undoAllUnrecorded(directory, log)) {
      await askAgain(() => this.#open(target, spoolFile)).catch((error: unknown) => {
        log.error(`the last lines of an earlier run of ${target.processName} wait for the next start`, error);
      });
    }
  }

  #await(work: Promise<void>): Promise<void> {
    const ended = work.then(
      () => void this.#underWay.delete(ended),
      () => void this.#underWay.delete(ended),
    );
    this.#underWay.add(ended);
    return work;
  }

  #begin(): void {
    this.#looking ??= setInterval(() => this.#look(), LOOK_MS);
    this.#watch ??= new SpoolWatch(this.#options.directory, {
      wrote: name => {
        this.#quietLooks = 0;
        this.#sessions.get(name)?.wake();
      },
      mayHaveWritten: () => this.#wakeAll(),
    });
  }

  #wakeAll(): void {
    for (const session of this.#sessions.values()) {
      if (!session.hasMore()) continue;
      this.#quietLooks = 0;
      session.wake();
    }
  }

  #look(): void {
    this.#quietLooks += 1;
    if (this.#quietLooks === 1 || this.#quietLooks % QUIET_LOOKS === 0) this.#wakeAll();
    void this.#space.look();
    // Space of output that was read is freed for further output.
    if (this.#space.isFull) for (const session of this.#sessions.values()) void session.release();
  }

  /**
   * Removes spools that no present or recorded process uses and whose lines do not wait for room in a log. After
   * `close`, nothing tells which those are.
   */
  async removeOthers(): Promise<void> {
    await this.#recover();
    const names = await readdir(this.#options.directory).catch(() => []);
    for (const name of names) {
      if (this.#isClosed) return;
      const spool = name.replace(/\.position$/, '');
      if (spool.endsWith('.spool') && !this.#kept.has(spool))
        await rm(path.join(this.#options.directory, name), { force: true });
    }
  }

  figures(): SpoolFigures {
    const sessions = [...this.#sessions.values()];
    return {
      files: sessions.length,
      waitingBytes: sessions.reduce((sum, session) => sum + session.waitingBytes(), 0),
      readBytes: this.#readBytes,
      readLines: this.#readLines,
    };
  }

  rotate(): void {
    for (const session of this.#sessions.values()) session.rotate();
  }

  /** Keeps every spool, so that the next host can continue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.close();
    clearInterval(this.#looking);
    await Promise.all([...this.#sessions.values()].map(session => session.handOver()));
    await Promise.all(this.#underWay);
    await this.#puncher.close();
  }

  /**
   * Where the file system cannot release a part of a file, the spool grows until its process ends. After any other
   * failure, the next call frees the same bytes too.
   */
  async #release(name: string, bytes: number): Promise<void> {
    if (!this.#punches) return;
    try {
      await this.#puncher.punch(name, bytes);
    } catch (error) {
      const { directory, log } = this.#options;
      if (error instanceof PunchImpossible) {
        this.#punches = false;
        log.warn('consumed output cannot be released here; spools grow until their process ends', error);
      } else if (!this.#toldPunchFailure && existsSync(path.join(directory, name))) {
        this.#toldPunchFailure = true;
        log.warn('consumed output could not be released; it will be with further output', error);
      }
    }
  }
}
