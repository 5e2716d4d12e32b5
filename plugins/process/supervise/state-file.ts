// The file that tells the next host what runs and what users decided. A launch is written before it begins, a decision
// of a user or a completion at the end of the same turn of the event loop, and the pid of a launch or the end of a run
// a moment later. Changes of one turn share one write, and a failed write is repeated until it succeeds.
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type Logger, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { withReserve } from '#kit/descriptors';
import { reasonText } from '#kit/error-text';
import { shapeIssues } from '#kit/shape-issues';
import { distrustOf } from '#kit/trust';
import { NO_CGROUP, nameOfCgroup } from './cgroup.ts';
import { type KeptBlock, keptBlockShape } from './kept-block.ts';
import { StateRoom } from './state-room.ts';
import { NO_GROUP } from './stop.ts';

/** Launches and ends that follow each other within this time share a write. */
const LATER_MS = 50;
/** Pause before a failed write is tried again. */
const RETRY_MS = 2_000;
/** The space that a launch needs: for its spool, the position in that, and the growth of this file. */
const LAUNCH_BYTES = 16 * 1024;

const recordSchema = z.object({
  pid: z.number().int().describe('0 while the launch is under way'),
  pgid: z.number().int(),
  start_time: z.number().describe('clock ticks after boot'),
  boot_id: z.string(),
  started_at: z.number().describe('Unix seconds'),
  run_id: z.string(),
  spool: z.string(),
  block_digest: z.string().describe('of the configuration block that was launched; blank when it is not known'),
  cgroup: z.string().default('').describe('directory of its cgroup; blank when it has none'),
  ...keptBlockShape,
});

const wantedSchema = z.object({
  state: z.enum(['running', 'stopped']),
  by: z.string(),
  at: z.number().describe('Unix seconds'),
  shown: z.boolean().describe('started by hand since the last orderly stop: shown like what is enabled'),
  restarting: z.literal(true).optional().describe('stopped for a restart whose start has not come yet'),
});

const completedSchema = z.object({
  at: z.number().describe('Unix seconds'),
  boot_id: z.string(),
  block_digest: z.string().describe('of the configuration block that was launched'),
});

const stateSchema = z.object({
  version: z.literal(1),
  processes: z.record(z.string(), recordSchema),
  wanted: z.record(z.string(), wantedSchema).default({}),
  completed: z.record(z.string(), completedSchema).default({}),
});

export type ProcessRecord = z.output<typeof recordSchema>;
/** A process that no host has launched has neither captured output nor a digest. */
export type FoundProcess = Omit<ProcessRecord, 'spool' | 'block_digest' | 'cgroup' | keyof KeptBlock> &
  Partial<ProcessRecord>;
export type WantedRecord = Readonly<z.output<typeof wantedSchema>>;
/** The completion of a one-shot service since the machine started. */
export type CompletedRecord = Readonly<z.output<typeof completedSchema>>;

interface Content {
  readonly records: Map<string, ProcessRecord>;
  readonly wanted: Map<string, WantedRecord>;
  readonly completed: Map<string, CompletedRecord>;
}

export class StateFile {
  /** The directory of the host's own state of processes: its real path, as the kernel names the files in it. */
  readonly directory: string;
  readonly #givenDirectory: string;
  readonly #file: string;
  readonly #log: Logger;
  readonly #room: StateRoom;
  #content: Content | undefined;
  /** The error of an unreadable file, which is set aside before another is written. */
  #fault: unknown;
  #isLost = false;
  #closed = false;
  /** The write at the end of this turn; resolves with its error. */
  #writing: Promise<unknown> | undefined;
  /** The write after launches and ends, or after one that failed. */
  #later: NodeJS.Timeout | undefined;
  /** Whether there are changes that are not on the disk yet. */
  #isBehind = false;
  /** Why the latest write failed; null when it succeeded. */
  #writeFault: string | null = null;

  constructor(directory: string, log: Logger) {
    this.#givenDirectory = directory;
    this.directory = realPath(directory);
    this.#file = path.join(this.directory, 'state.json');
    this.#room = new StateRoom(this.#file);
    this.#log = log;
  }

  /** Whether a launch with this mark is recorded here. Earlier hosts marked launches with a path through links. */
  isRecordedIn(directory: string): boolean {
    return directory === this.directory || directory === this.#givenDirectory;
  }

  /** Why the file cannot be written at present; null while it can. */
  get writeFault(): string | null {
    return this.#writeFault;
  }

  /**
   * The records of the previous host; undefined when there is no file that can be used. An unreadable one is set aside.
   */
  load(): ReadonlyMap<string, ProcessRecord> | undefined {
    const { records } = this.#known();
    try {
      this.#setAside();
    } catch (error) {
      this.#log.error(`${this.#file} cannot be set aside`, error);
    }
    return this.#isLost ? undefined : new Map(records);
  }

  /** Records a launch before it happens. Throws a Problem 503 when that is impossible. */
  async begin(processName: string, record: ProcessRecord): Promise<void> {
    const { records } = this.#known();
    const before = records.get(processName);
    records.set(processName, record);
    const error = await this.#written();
    if (error === undefined) return;
    if (before === undefined) records.delete(processName);
    else records.set(processName, before);
    const reason = `${this.#file} cannot be written (${reasonText(error)})`;
    throw new Problem(503, `${processName} is not started, because its launch cannot be recorded: ${reason}`, {
      cause: error,
    });
  }

  /**
   * Throws a Problem 503 when another launch of a running process could not be recorded. Leaves nothing on the disk.
   */
  requireRoom(processName: string): void {
    const error = this.roomFault();
    if (error === undefined) return;
    const reason = `${this.directory} cannot be written (${reasonText(error)})`;
    throw new Problem(
      503,
      `${processName} goes on running instead of being restarted, because its launch could not be recorded: ${reason}; ` +
        'mend that, or stop it',
      { cause: error },
    );
  }

  /** The error by which a launch could not be recorded now; undefined when it could be. */
  roomFault(): unknown {
    const trial = `${this.#file}.trial`;
    try {
      const bytes = LAUNCH_BYTES + (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0);
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      try {
        withReserve(() => writeFileSync(trial, Buffer.alloc(bytes), { mode: 0o600 }));
      } finally {
        rmSync(trial, { force: true });
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }

  set(processName: string, record: ProcessRecord): void {
    this.#known().records.set(processName, record);
    this.#save();
  }

  /** Records the changed block of a recorded run, as far as it is kept. */
  keep(processName: string, runId: string, kept: KeptBlock): void {
    const { records } = this.#known();
    const record = records.get(processName);
    if (record?.run_id !== runId) return;
    const changed = { ...record, ...kept };
    if (deepEqual(changed, record)) return;
    records.set(processName, changed);
    this.#save();
  }

  /** Completes the record of a launch that has begun. If this is lost, the next host finds the run by its marks. */
  launched(processName: string, record: ProcessRecord): void {
    this.#known().records.set(processName, record);
    this.#saveLater();
  }

  /**
   * Deletes the record of a run that has ended. If this is lost, the next host finds out that the run has ended, and
   * clears away its remains.
   */
  ended(processName: string, runId: string): void {
    if (this.#remove(processName, runId)) this.#saveLater();
  }

  /** `runId` restricts this to the record of that run, because the name may have a newer one. */
  delete(processName: string, runId = this.#known().records.get(processName)?.run_id): void {
    if (this.#remove(processName, runId)) this.#save();
  }

  has(processName: string): boolean {
    return this.#known().records.has(processName);
  }

  /** The ids of all recorded runs. */
  runIds(): ReadonlySet<string> {
    return new Set([...this.#known().records.values()].map(({ run_id: runId }) => runId));
  }

  wanted(processName: string): WantedRecord | undefined {
    return this.#known().wanted.get(processName);
  }

  setWanted(processName: string, record: WantedRecord): void {
    this.#known().wanted.set(processName, record);
    this.#save();
  }

  /** Deletes the wanted state of one process, or of all without a name. */
  deleteWanted(processName?: string): void {
    this.#forget(this.#known().wanted, processName);
  }

  completed(processName: string): CompletedRecord | undefined {
    return this.#known().completed.get(processName);
  }

  setCompleted(processName: string, record: CompletedRecord): void {
    this.#known().completed.set(processName, record);
    this.#save();
  }

  /** Deletes the completion of one process, or of all without a name. */
  deleteCompleted(processName?: string): void {
    this.#forget(this.#known().completed, processName);
  }

  /** Ends all writing, because the next supervision is the only writer from now on. */
  async close(): Promise<void> {
    await this.saved();
    this.#closed = true;
    clearTimeout(this.#later);
  }

  /** Resolves when every change so far is on the disk, or could not be written. */
  async saved(): Promise<void> {
    if (this.#later !== undefined) this.#save();
    await this.#writing;
  }

  #remove(processName: string, runId: string | undefined): boolean {
    const { records } = this.#known();
    return records.get(processName)?.run_id === runId && records.delete(processName);
  }

  #forget(known: Map<string, unknown>, processName: string | undefined): void {
    const changed = processName === undefined ? known.size > 0 : known.delete(processName);
    if (processName === undefined) known.clear();
    if (changed) this.#save();
  }

  /** Read on first use; reading alone changes nothing on disk. */
  #known(): Content {
    this.#content ??= this.#read();
    return this.#content;
  }

  #read(): Content {
    try {
      const { processes, wanted, completed } = stateSchema.parse(
        JSON.parse(withReserve(() => readTrusted(this.#file))),
      );
      const records = Object.entries(processes).map(
        ([name, record]) => [name, ownRecord(name, record, this.directory)] as const,
      );
      return {
        records: new Map(records),
        wanted: new Map(Object.entries(wanted).map(([name, record]) => [name, wantedNow(record)])),
        completed: new Map(Object.entries(completed)),
      };
    } catch (error) {
      this.#isLost = true;
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') this.#fault = error instanceof z.ZodError ? new Error(shapeText(error)) : error;
      return { records: new Map(), wanted: new Map(), completed: new Map() };
    }
  }

  #setAside(): void {
    if (this.#fault === undefined) return;
    const aside = `${this.#file}.corrupt-${Date.now()}`;
    const fault = this.#fault;
    this.#fault = undefined;
    try {
      // Renaming also keeps a thing that is no file, such as a link.
      renameSync(this.#file, aside);
      this.#log.error(`the supervisor's state could not be used and is kept as ${aside}`, fault);
    } catch {
      this.#log.error(`the supervisor's state could not be used, nor be kept`, fault);
    }
  }

  #saveLater(delayMs = LATER_MS): void {
    this.#later ??= setTimeout(() => this.#save(), delayMs);
  }

  #save(): void {
    this.#isBehind = true;
    void this.#written();
  }

  /** Resolves with the error of the write that has every change so far. */
  #written(): Promise<unknown> {
    this.#writing ??= nextTurn().then(() => {
      this.#writing = undefined;
      try {
        this.#write();
      } catch (error) {
        if (this.#isBehind) this.#retry(error);
        return error;
      }
    });
    return this.#writing;
  }

  /**
   * Plans another write. Logs the failure once until a write succeeds, because a service that ends again and again
   * causes a write each time.
   */
  #retry(error: unknown): void {
    this.#saveLater(RETRY_MS);
    const isTold = this.#writeFault !== null;
    this.#writeFault = `${this.#file} cannot be written (${reasonText(error)})`;
    if (isTold) return;
    this.#log.error(`${this.#file} cannot be written; a restart of Stackwarden would not know its processes`, error);
  }

  #caughtUp(): void {
    this.#isBehind = false;
    if (this.#writeFault !== null) this.#log.info(`${this.#file} is written again`);
    this.#writeFault = null;
  }

  #write(): void {
    if (this.#closed) return;
    clearTimeout(this.#later);
    this.#later = undefined;
    const { records, wanted, completed } = this.#known();
    const state = {
      version: 1,
      processes: Object.fromEntries(records),
      wanted: Object.fromEntries(wanted),
      completed: Object.fromEntries(completed),
    };
    const text = JSON.stringify(state, null, 2);
    this.#setAside();
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    try {
      withReserve(() => writeFileSync(`${this.#file}.new`, text, { mode: 0o600 }));
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      // The reserve is not for launches: they are refused, because their output could not be kept either.
      if (!this.#isBehind || !this.#room.take(text, error)) throw error;
    }
    this.#room.keep(text);
    this.#caughtUp();
  }
}

/** An earlier host that stopped the process for a restart ended before the start. */
function wantedNow({ restarting, ...record }: WantedRecord): WantedRecord {
  return restarting === undefined ? record : { ...record, state: 'running', shown: true };
}

/**
 * The record with its spool in the host's own directory, whatever path led there when it was written. Throws an Error
 * for a record that no host has written, because records decide which processes are ended and which file is removed.
 */
function ownRecord(name: string, record: ProcessRecord, directory: string): ProcessRecord {
  const { pid, pgid, run_id: runId, spool, cgroup } = record;
  const isCgroup = cgroup === NO_CGROUP || path.basename(cgroup) === nameOfCgroup(runId);
  // A signal to group 0 would reach the host's own group, and one to group 1 every process.
  const isGroup = pgid > 1 || pgid === NO_GROUP || pid === 0;
  if (!spool.endsWith('.spool') || !isCgroup || !isGroup)
    throw new Error(`the record of ${name} names what is not its own`);
  return { ...record, spool: path.join(directory, path.basename(spool)) };
}

/** The path without links, as far as it exists. */
function realPath(place: string): string {
  try {
    return realpathSync(place);
  } catch (error) {
    const parent = path.dirname(place);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === place) return place;
    return path.join(realPath(parent), path.basename(place));
  }
}

/** Throws an Error without a code when somebody else may have written the file. */
function readTrusted(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const entry = fstatSync(descriptor);
    const reason = entry.isFile() ? distrustOf(entry) : 'is no regular file';
    if (reason !== null) throw new Error(`${file} ${reason}`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** The first fault of the shape, in one line. */
function shapeText(error: z.ZodError): string {
  const [issue] = shapeIssues(error);
  return issue === undefined ? 'its form is unknown' : `${issue.path.join('.')}: ${issue.message}`;
}
