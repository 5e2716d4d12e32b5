// Tables of all processes that live at one moment. Callers that need one at about the same time share it.
import { readdirSync } from 'node:fs';
import { withReserve } from '#kit/descriptors';
import { turnWithTime } from '#kit/turns';
import {
  DELETED,
  identify,
  isRunning,
  outputFileOf,
  type ProcessStat,
  readProc,
  readStat,
  threadsOf,
  workingDirectoryOf,
} from './proc-stat.ts';
import { forgetGone, runOf } from './run-marks.ts';

/** A table may be shared for this many times as long as it took to read. */
const LOOK_SHARE = 4;
/** How many processes are read in one turn of the event loop; a service may have ten thousand. */
const READ_AT_ONCE = 100;

/**
 * All living processes but this one, at one moment. Indexes are made once for each table, so that a look for one run
 * costs the same however many runs there are.
 */
export class ProcessTable {
  readonly processes: readonly ProcessStat[];
  readonly #byPid: ReadonlyMap<number, ProcessStat>;
  #children: ReadonlyMap<number, readonly ProcessStat[]> | undefined;
  #groups: ReadonlyMap<number, readonly ProcessStat[]> | undefined;
  #runs: { readonly since: number; readonly byId: ReadonlyMap<string, readonly ProcessStat[]> } | undefined;
  /** The run ids of processes that started at this time or later are read, or being read. */
  #readFrom = Number.POSITIVE_INFINITY;
  #reading: Promise<unknown> | undefined;
  #writers: { readonly since: number; readonly byFile: Promise<ReadonlyMap<string, ReadonlySet<number>>> } | undefined;

  constructor(processes: readonly ProcessStat[]) {
    this.processes = processes;
    this.#byPid = new Map(processes.map(stat => [stat.pid, stat]));
  }

  get(pid: number): ProcessStat | undefined {
    return this.#byPid.get(pid);
  }

  childrenOf(pid: number): readonly ProcessStat[] {
    this.#children ??= grouped(this.processes.map(stat => [stat.parentPid, stat]));
    return this.#children.get(pid) ?? [];
  }

  inGroup(pgid: number): readonly ProcessStat[] {
    this.#groups ??= grouped(this.processes.map(stat => [stat.pgid, stat]));
    return this.#groups.get(pgid) ?? [];
  }

  /**
   * Processes that have the run's id in their environment, which descendants keep when they leave the group. No
   * descendant is older than the run's leader, which started at `since`.
   */
  ofRun(runId: string, since: number): readonly ProcessStat[] {
    if (this.#runs === undefined || this.#runs.since > since) this.#runs = { since, byId: this.#runsSince(since) };
    return this.#runs.byId.get(runId) ?? [];
  }

  #runsSince(since: number): ReadonlyMap<string, readonly ProcessStat[]> {
    const marked = this.processes.flatMap((stat): (readonly [string, ProcessStat])[] => {
      const found = stat.startTime < since ? null : runOf(stat);
      return found === null ? [] : [[found, stat]];
    });
    return grouped(marked);
  }

  /** Reads what `ofRun` needs, in several turns of the event loop. */
  async readRuns(since: number): Promise<void> {
    if (since < this.#readFrom) {
      const until = this.#readFrom;
      const unread = this.processes.filter(({ startTime }) => startTime >= since && startTime < until);
      this.#readFrom = since;
      this.#reading = Promise.all([this.#reading, inTurns(unread, runOf)]);
    }
    try {
      await this.#reading;
    } catch (error) {
      this.#readFrom = Number.POSITIVE_INFINITY;
      this.#reading = undefined;
      throw error;
    }
  }

  /**
   * The pids of processes that have the file as their standard output or error, and are no older than the run's leader,
   * which started at `since`; read in several turns of the event loop.
   */
  async writersOf(file: string, since: number): Promise<ReadonlySet<number>> {
    if (this.#writers === undefined || this.#writers.since > since) {
      // A second look reads all processes, so that runs of different ages need no third one.
      const from = this.#writers === undefined ? since : 0;
      this.#writers = { since: from, byFile: this.#lookAtOutputs(from) };
    }
    return (await this.#writers.byFile).get(file) ?? new Set();
  }

  async #lookAtOutputs(since: number): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    const outputs: (readonly [string, number])[] = [];
    const members = this.processes.filter(({ startTime }) => startTime >= since);
    await inTurns(members, ({ pid }) => {
      for (const descriptor of [1, 2] as const) {
        const file = outputFileOf(pid, descriptor);
        if (file !== null) outputs.push([file.replace(DELETED, ''), pid]);
      }
    });
    return new Map([...grouped(outputs)].map(([file, pids]) => [file, new Set(pids)]));
  }
}

interface Look<Table> {
  /** Monotonic milliseconds at which the look began. */
  readonly atMs: number;
  readonly table: Table;
}

let lastLook: (Look<ProcessTable> & { readonly tookMs: number }) | undefined;
/** The latest look that is under way. */
let looking: Look<Promise<ProcessTable>> | undefined;

/**
 * The processes that live now, or did so at most `maxAgeMs` ago, so that many services that are looked at together
 * share one table. Where reading takes long, a shared table may be older.
 */
export function lookAround(maxAgeMs = 0): ProcessTable {
  const sinceMs = sharedSince(maxAgeMs);
  if (lastLook !== undefined && lastLook.atMs > sinceMs) return lastLook.table;
  const atMs = performance.now();
  return keep(atMs, livingProcesses(), performance.now() - atMs);
}

/** Same as `lookAround`, in several turns of the event loop. */
export function lookAside(maxAgeMs: number): Promise<ProcessTable> {
  return lookSince(sharedSince(maxAgeMs));
}

/** A table whose reading began after `sinceMs`, in monotonic milliseconds; read in several turns of the event loop. */
export async function lookSince(sinceMs: number): Promise<ProcessTable> {
  if (lastLook !== undefined && lastLook.atMs > sinceMs) return lastLook.table;
  if (looking !== undefined && looking.atMs > sinceMs) return looking.table;
  const atMs = performance.now();
  const look: Look<Promise<ProcessTable>> = { atMs, table: readTable(atMs, () => looking === look) };
  looking = look;
  try {
    return await look.table;
  } finally {
    if (looking === look) looking = undefined;
  }
}

/** Makes the next caller read a new table, because a process that was launched just now is in no earlier one. */
export function forgetTable(): void {
  lastLook = undefined;
  looking = undefined;
}

function sharedSince(maxAgeMs: number): number {
  const sharedMs = maxAgeMs === 0 ? 0 : Math.max(maxAgeMs, LOOK_SHARE * (lastLook?.tookMs ?? 0));
  return performance.now() - sharedMs;
}

async function readTable(atMs: number, isLatest: () => boolean): Promise<ProcessTable> {
  const living: ProcessStat[] = [];
  const tookMs = await inTurns(pidsNow(), pid => {
    const stat = readStat(pid);
    if (stat !== null && isRunning(stat)) living.push(stat);
  });
  return isLatest() ? keep(atMs, living, tookMs) : tableOf(living);
}

function keep(atMs: number, living: readonly ProcessStat[], tookMs: number): ProcessTable {
  forgetGone(living);
  const table = tableOf(living);
  lastLook = { atMs, tookMs, table };
  return table;
}

function tableOf(living: readonly ProcessStat[]): ProcessTable {
  return new ProcessTable(living.filter(({ pid }) => pid !== process.pid));
}

/** Reads all members in several turns of the event loop. Resolves with the milliseconds that reading took. */
export async function inTurns<Member>(members: readonly Member[], read: (member: Member) => unknown): Promise<number> {
  let tookMs = 0;
  for (let from = 0; from < members.length; from += READ_AT_ONCE) {
    await turnWithTime();
    const startedMs = performance.now();
    for (const member of members.slice(from, from + READ_AT_ONCE)) read(member);
    tookMs += performance.now() - startedMs;
  }
  return tookMs;
}

function grouped<Key, Value>(entries: readonly (readonly [Key, Value])[]): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const [key, value] of entries) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** The processes and all their descendants. */
export function withDescendants(members: readonly ProcessStat[], table: ProcessTable): ProcessStat[] {
  const found = new Map<number, ProcessStat>();
  const add = (stat: ProcessStat): void => {
    if (found.has(stat.pid)) return;
    found.set(stat.pid, stat);
    for (const child of table.childrenOf(stat.pid)) add(child);
  };
  for (const member of members) add(member);
  return [...found.values()];
}

/**
 * The pids of a process and its descendants, from the lists of children that the kernel keeps; where it keeps none,
 * from a look at all processes.
 */
export function descendantsOf(pid: number): number[] {
  const found = new Set([pid]);
  for (const parent of found) {
    for (const thread of threadsOf(parent)) {
      const children = readProc(`/proc/${parent}/task/${thread}/children`);
      if (children === null && identify(parent) !== null) return descendantsIn(lookAround(), pid);
      for (const child of (children ?? '').split(' ').filter(Boolean)) found.add(Number(child));
    }
  }
  return [...found];
}

function descendantsIn(table: ProcessTable, pid: number): number[] {
  const stat = table.get(pid);
  return stat === undefined ? [] : withDescendants([stat], table).map(member => member.pid);
}

/** Living processes with this working directory. */
export function processesIn(directory: string): ProcessStat[] {
  return livingProcesses().filter(({ pid }) => workingDirectoryOf(pid) === directory);
}

export function livingProcesses(): ProcessStat[] {
  return pidsNow()
    .map(readStat)
    .filter(stat => stat !== null)
    .filter(isRunning);
}

function pidsNow(): number[] {
  return withReserve(() => readdirSync('/proc'))
    .filter(name => /^\d+$/.test(name))
    .map(Number);
}
