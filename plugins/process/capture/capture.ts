// Captures output: each process writes to its own append-only spool file, which a session of its own reads. This knows
// all sessions, wakes them, and keeps room for their spools.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '#kit/make-directory';
import { CaptureSession, type CaptureTarget, type SessionOptions } from './capture-session.ts';
import { HolePuncher } from './hole-puncher.ts';
import { type SpoolFault, SpoolSpace } from './spool-space.ts';
import { SpoolWatch } from './spool-watch.ts';

/** How often it is looked whether a write was missed, and whether there is room for spools. */
const LOOK_MS = 1_000;
/** The kernel loses what it has to tell only where that is much: while it tells of nothing, so many looks are one. */
const QUIET_LOOKS = 5;

export interface CaptureOptions extends SessionOptions {
  /** The directory of the spools. */
  readonly directory: string;
  /** Told when the disk of the spools takes nothing, and with null when it does again. */
  readonly onFault: (fault: SpoolFault | null) => void;
}

/** How much output there is. */
export interface SpoolFigures {
  readonly files: number;
  /** What was written and is not in the logs yet. */
  readonly waitingBytes: number;
  /** What was read since the thread began. */
  readonly readBytes: number;
  readonly readLines: number;
}

export class Capture {
  readonly #options: CaptureOptions;
  /** By the name of the spool. */
  readonly #sessions = new Map<string, CaptureSession>();
  readonly #reading = new Set<CaptureSession>();
  readonly #clearing = new Set<Promise<void>>();
  readonly #space: SpoolSpace;
  readonly #puncher: HolePuncher;
  #watch: SpoolWatch | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** Looks since a write was told of, or found. */
  #quietLooks = 0;
  #punches = true;
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
    const name = path.basename(spoolFile);
    const session = await CaptureSession.open(spoolFile, target, this.#options, {
      released: () => this.#sessions.delete(name),
      clears: clearing => {
        this.#clearing.add(clearing);
        void clearing.then(() => this.#clearing.delete(clearing));
      },
      release: bytes => this.#release(name, bytes),
      took: (bytes, lines) => {
        this.#readBytes += bytes;
        this.#readLines += lines;
      },
      reading: this.#reading,
    });
    this.#sessions.set(name, session);
    session.wake();
    return session;
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
    // What was read makes room for what comes.
    if (this.#space.isFull) for (const session of this.#sessions.values()) void session.release();
  }

  /** Removes spools that no present or recorded process uses. */
  async removeOthers(): Promise<void> {
    const names = await readdir(this.#options.directory).catch(() => []);
    for (const name of names) {
      const spool = name.replace(/\.position$/, '');
      if (spool.endsWith('.spool') && !this.#sessions.has(spool))
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
    this.#watch?.close();
    clearInterval(this.#looking);
    await Promise.all([...[...this.#sessions.values()].map(session => session.handOver()), ...this.#clearing]);
    this.#puncher.close();
  }

  /** Where the file system cannot release a part of a file, the spool grows until its process ends. */
  async #release(name: string, bytes: number): Promise<void> {
    if (!this.#punches) return;
    try {
      await this.#puncher.punch(name, bytes);
    } catch (error) {
      this.#punches = false;
      this.#options.log.warn('consumed output cannot be released here; spools grow until their process ends', error);
    }
  }
}
