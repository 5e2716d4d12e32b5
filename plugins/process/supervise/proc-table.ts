// What the kernel reports about processes. A zombie counts as dead once all its threads have ended, and a pid alone never
// identifies a process. What cannot be told for want of descriptors is an error, because it is not the same as a process
// that is gone.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { lacksDescriptors, withReserve } from '#kit/descriptors';
import { kernelRecord, kernelText } from '#kit/kernel-text';
import { turnWithTime } from '#kit/turns';

/** Identifies one process: pids are reused, but a pid with its start time is unique within one boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot: field 22 of /proc/<pid>/stat. */
  readonly startTime: number;
  readonly bootId: string;
}

export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  readonly state: string;
  readonly pgid: number;
  readonly startTime: number;
  /** Of a zombie more than 1 where only its first thread has ended: field 20 of /proc/<pid>/stat. */
  readonly threads: number;
  /** It is being ended and still holds some of what it had: PF_EXITING of field 9 of /proc/<pid>/stat. */
  readonly isExiting: boolean;
  /** Where its arguments and environment lie, another after each exec: fields 48 to 51 of /proc/<pid>/stat. */
  readonly image: string;
}

/** What all descendants of a launched process inherit in their environment. */
export interface Marks {
  readonly runId: string;
  readonly processName: string;
  /** The directory in which the launch is recorded: several hosts may share one process table. */
  readonly directory: string;
}

const CLOSING = 0x29;
/** Flag of a task (Linux, include/linux/sched.h). */
const PF_EXITING = 0x4;
/** Of SIGKILL in a set of signals, which are hexadecimal. */
const KILL_BIT = 0x100n;
const RUN_VARIABLE = 'STACKWARDEN_RUN_ID';
const NAME_VARIABLE = 'STACKWARDEN_PROCESS_NAME';
const DIRECTORY_VARIABLE = 'STACKWARDEN_RECORDED_IN';

/** What the kernel adds to the path of a file that was removed, as a spool is once the leader of its run has ended. */
const DELETED = / \(deleted\)$/;
const MAX_REMEMBERED = 20_000;
/** More than a run's id has. */
const MAX_ID_CHARACTERS = 100;

export const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** null when there is no such process. */
export function readStat(pid: number): ProcessStat | null {
  return statIn(`/proc/${pid}`, pid);
}

/** Of a process, or of one of its threads. */
function statIn(directory: string, pid: number): ProcessStat | null {
  const stat = recordOf(`${directory}/stat`);
  if (stat === null) return null;
  // The command in parentheses may itself hold parentheses and spaces.
  const text = stat.toString('latin1', stat.lastIndexOf(CLOSING) + 2);
  const parentAt = afterSpaces(text, 0, 1);
  const groupAt = afterSpaces(text, parentAt, 1);
  const flagsAt = afterSpaces(text, groupAt, 4);
  const threadsAt = afterSpaces(text, flagsAt, 11);
  const startAt = afterSpaces(text, threadsAt, 2);
  const imageAt = afterSpaces(text, startAt, 26);
  return {
    pid,
    parentPid: numberAt(text, parentAt),
    state: text.slice(0, parentAt - 1),
    pgid: numberAt(text, groupAt),
    startTime: numberAt(text, startAt),
    threads: numberAt(text, threadsAt),
    isExiting: (numberAt(text, flagsAt) & PF_EXITING) !== 0,
    image: text.slice(imageAt, afterSpaces(text, imageAt, 4) - 1),
  };
}

/** Where the text goes on behind so many spaces; behind its end, as if one stood there, when it has fewer. */
function afterSpaces(text: string, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0; left -= 1) {
    const space = text.indexOf(' ', at);
    if (space < 0) return text.length + 1;
    at = space + 1;
  }
  return at;
}

function numberAt(text: string, at: number): number {
  return Number(text.slice(at, afterSpaces(text, at, 1) - 1));
}

export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === null ? null : { pid, startTime: stat.startTime, bootId };
}

/** Whether exactly this process runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId) return false;
  const stat = readStat(identity.pid);
  return stat !== null && stat.startTime === identity.startTime && isRunning(stat);
}

/** Whether exactly this process runs and is to go on: the kernel may take its time to end what was killed. */
export function isStaying(identity: ProcessIdentity): boolean {
  return isAlive(identity) && threadsOf(identity.pid).some(thread => isStayingThread(identity.pid, thread));
}

/** What ends a process, the kernel tells each of its threads as a SIGKILL. */
function isStayingThread(pid: number, thread: string): boolean {
  const directory = `/proc/${pid}/task/${thread}`;
  const stat = statIn(directory, pid);
  const [, pending] = /^SigPnd:\s+([0-9a-f]+)$/m.exec(readProc(`${directory}/status`) ?? '') ?? [];
  if (stat === null || stat.isExiting || pending === undefined) return false;
  return (BigInt(`0x${pending}`) & KILL_BIT) === 0n;
}

/**
 * All living processes but this one, at one moment. What is derived from them is derived once, so that a look for one
 * run costs the same however many runs there are.
 */
export class ProcessTable {
  readonly processes: readonly ProcessStat[];
  readonly #byPid: ReadonlyMap<number, ProcessStat>;
  #children: ReadonlyMap<number, readonly ProcessStat[]> | undefined;
  #groups: ReadonlyMap<number, readonly ProcessStat[]> | undefined;
  #runs: { readonly since: number; readonly byId: ReadonlyMap<string, readonly ProcessStat[]> } | undefined;
  /** Start time from which on the run ids of processes are being read. */
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
   * Those that have the run's id in their environment, which descendants keep when they leave the group. No descendant is
   * older than the run's leader, which started at `since`.
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
   * The pids of those that have the file as their standard output or error, and are no older than the run's leader, which
   * started at `since`; read in several turns of the event loop.
   */
  async writersOf(file: string, since: number): Promise<ReadonlySet<number>> {
    if (this.#writers === undefined || this.#writers.since > since) {
      // A second look is one at all, so that many runs of different ages need no more.
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

/** So much more time than they take passes between looks that may share one. */
const LOOK_SHARE = 4;
/** A service may have ten thousand processes; so many are read without a look at the time. */
const READ_AT_ONCE = 100;

interface Look<Table> {
  /** When it began. */
  readonly atMs: number;
  readonly table: Table;
}

let lastLook: (Look<ProcessTable> & { readonly tookMs: number }) | undefined;
/** The latest look that is under way. */
let looking: Look<Promise<ProcessTable>> | undefined;

/**
 * `maxAgeMs` allows a table of that age, so that many services that are looked at together share one. Where there are
 * so many processes that a look takes long, one that is shared may be older.
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

/** A table that was made at that monotonic time or later, in several turns of the event loop. */
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

/** Has the next look be a new one, because what was launched just now is in no earlier table. */
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

/** Resolves with the time that it took without the turns between. */
async function inTurns<Member>(members: readonly Member[], read: (member: Member) => unknown): Promise<number> {
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

/** These processes and all their descendants. */
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
 * The pids of a process and its descendants, from the lists of children that the kernel keeps; where it keeps none, from a
 * look at all processes.
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

function threadsOf(pid: number): string[] {
  try {
    return withReserve(() => readdirSync(`/proc/${pid}/task`));
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // It has ended.
    return [];
  }
}

/**
 * The launched process of a run: the oldest that lives of it, if it leads a group. Where another is older, the launched one
 * has ended, and a leader is a descendant.
 */
export function leaderOf(runId: string): ProcessStat | undefined {
  const members = livingProcesses().filter(stat => runOf(stat) === runId);
  const begun = Math.min(...members.map(({ startTime }) => startTime));
  return members.find(({ pid, pgid, startTime }) => pid === pgid && startTime === begun);
}

export function marksOf({ runId, processName, directory }: Marks): Record<string, string> {
  return { [RUN_VARIABLE]: runId, [NAME_VARIABLE]: processName, [DIRECTORY_VARIABLE]: directory };
}

/**
 * The launched processes that still live and whose launches were recorded in this directory, the oldest first. Anybody
 * can give a process these marks, so only processes of the given users count.
 */
export async function launchedFrom(
  directory: string,
  users: ReadonlySet<number | undefined>,
): Promise<(ProcessStat & Pick<Marks, 'runId' | 'processName'>)[]> {
  const { processes } = await lookSince(performance.now());
  const leaders = processes.filter(({ pid, pgid }) => pid === pgid).sort((a, b) => a.startTime - b.startTime);
  const found: (ProcessStat & Pick<Marks, 'runId' | 'processName'>)[] = [];
  await inTurns(leaders, stat => {
    const environment = environmentOf(stat.pid);
    const runId = environment.get(RUN_VARIABLE);
    const processName = environment.get(NAME_VARIABLE);
    const isOurs = environment.get(DIRECTORY_VARIABLE) === directory;
    if (!isOurs || !users.has(userOf(stat.pid))) return;
    if (runId !== undefined && processName !== undefined) found.push({ ...stat, runId, processName });
  });
  return found;
}

/** The directory where a host has recorded its launch; undefined for what no host has launched. */
export function recordedIn(pid: number): string | undefined {
  return environmentOf(pid).get(DIRECTORY_VARIABLE);
}

/** The user who runs it, whatever rights its program gives it; undefined when it is gone. */
export function userOf(pid: number): number | undefined {
  const [, uid] = /^Uid:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '') ?? [];
  return uid === undefined ? undefined : Number(uid);
}

function environmentOf(pid: number): ReadonlyMap<string, string> {
  const bytes = readProc(`/proc/${pid}/environ`) ?? '';
  // Most processes are of no run.
  if (!bytes.includes(RUN_VARIABLE)) return new Map();
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return new Map(
    text.split('\0').map(entry => {
      const [name = ''] = entry.split('=', 1);
      return [name, entry.slice(name.length + 1)];
    }),
  );
}

/** The file behind the standard output or error of a process; null when that is not known. */
export function outputFileOf(pid: number, descriptor: 1 | 2 = 1): string | null {
  return readLink(`/proc/${pid}/fd/${descriptor}`);
}

/** Run ids by pid, cached because each check of a service would otherwise read the environment of every process. */
const runs = new Map<number, { readonly seen: ProcessStat; readonly runId: string | null }>();

/** What was of a run once stays of it. What was of none may become one of it by an exec. */
function runOf(stat: ProcessStat): string | null {
  const known = runs.get(stat.pid);
  if (known?.seen.startTime === stat.startTime) {
    if (known.runId !== null || known.seen.image === stat.image) return known.runId;
  }
  const prefix = `${RUN_VARIABLE}=`;
  const entry = readProc(`/proc/${stat.pid}/environ`)
    ?.split('\0')
    .find(text => text.startsWith(prefix));
  const runId = entry === undefined ? null : ownText(entry.slice(prefix.length));
  remember(stat, runId);
  return runId;
}

/** Anybody can give a process an id, which is then not as short as ours are. */
function ownText(text: string): string | null {
  if (text.length > MAX_ID_CHARACTERS) return null;
  // A part of a text keeps the whole of it in memory, and an environment may have megabytes.
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Services that run a program each second would otherwise be remembered by thousands. */
function forgetGone(living: readonly ProcessStat[]): void {
  if (runs.size <= living.length * 2) return;
  const pids = new Set(living.map(({ pid }) => pid));
  for (const pid of runs.keys()) if (!pids.has(pid)) runs.delete(pid);
}

function remember(seen: ProcessStat, runId: string | null): void {
  if (runs.size >= MAX_REMEMBERED) runs.clear();
  runs.set(seen.pid, { seen, runId });
}

/** Living processes with this working directory. */
export function processesIn(directory: string): ProcessStat[] {
  return livingProcesses().filter(({ pid }) => readLink(`/proc/${pid}/cwd`) === directory);
}

function readLink(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    // The process is gone or belongs to another user, so nothing is known about it.
    return null;
  }
}

function livingProcesses(): ProcessStat[] {
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

/** A program may end its first thread and go on in others. */
function isRunning({ state, threads }: ProcessStat): boolean {
  return (state !== 'Z' || threads > 1) && state !== 'X' && state !== 'x';
}

function readProc(file: string): string | null {
  return known(() => kernelText(file));
}

/** The next read overwrites it. */
function recordOf(file: string): Buffer | null {
  return known(() => kernelRecord(file));
}

function known<Content>(read: () => Content): Content | null {
  try {
    return withReserve(read);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // The process is gone or belongs to another user, so nothing is known about it.
    return null;
  }
}
