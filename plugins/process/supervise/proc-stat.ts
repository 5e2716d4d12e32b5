// What the kernel reports about one process. A zombie counts as dead once all its threads have ended, and a pid alone
// never identifies a process. Functions throw when no descriptor is left to read with, because that does not mean that
// the process is gone.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { lacksDescriptors, withReserve } from '#kit/descriptors';
import { kernelRecord, kernelText } from '#kit/kernel-text';

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
  /**
   * Number of threads; more than 1 for a zombie of which only the first thread has ended: field 20 of /proc/<pid>/stat.
   */
  readonly threads: number;
  /**
   * Whether the process is ending, and still holds some of its resources: PF_EXITING of field 9 of /proc/<pid>/stat.
   */
  readonly isExiting: boolean;
  /** Addresses of its arguments and environment, which differ after each exec: fields 48 to 51 of /proc/<pid>/stat. */
  readonly image: string;
}

const CLOSING = 0x29;
/** Flag of a task (Linux, include/linux/sched.h). */
const PF_EXITING = 0x4;
/** The bit of SIGKILL in the sets of signals of /proc/<pid>/status, which are hexadecimal. */
const KILL_BIT = 0x100n;
export const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** null when there is no such process. */
export function readStat(pid: number): ProcessStat | null {
  return statIn(`/proc/${pid}`, pid);
}

/** The stat of a process, or of one of its threads. */
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

/** The index behind `count` spaces. A text with fewer counts as if a space followed its end. */
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

/** A program may end its first thread and go on in others. */
export function isRunning({ state, threads }: ProcessStat): boolean {
  return (state !== 'Z' || threads > 1) && state !== 'X' && state !== 'x';
}

/** Whether exactly this process runs and is not being ended: the kernel may take its time to end a killed process. */
export function isStaying(identity: ProcessIdentity): boolean {
  return isAlive(identity) && threadsOf(identity.pid).some(thread => isStayingThread(identity.pid, thread));
}

/** To end a process, the kernel makes a SIGKILL pending in each of its threads. */
function isStayingThread(pid: number, thread: string): boolean {
  const directory = `/proc/${pid}/task/${thread}`;
  const stat = statIn(directory, pid);
  const [, pending] = /^SigPnd:\s+([0-9a-f]+)$/m.exec(readProc(`${directory}/status`) ?? '') ?? [];
  if (stat === null || stat.isExiting || pending === undefined) return false;
  return (BigInt(`0x${pending}`) & KILL_BIT) === 0n;
}

export function threadsOf(pid: number): string[] {
  try {
    return withReserve(() => readdirSync(`/proc/${pid}/task`));
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // The process has ended.
    return [];
  }
}

/** The user who runs the process, whatever rights its program gives it; undefined when the process is gone. */
export function userOf(pid: number): number | undefined {
  const [, uid] = /^Uid:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '') ?? [];
  return uid === undefined ? undefined : Number(uid);
}

/** What the kernel adds to the path of a file that was removed, as a spool is once the leader of its run has ended. */
export const DELETED = / \(deleted\)$/;

/** The file behind the standard output or error of a process; null when that is not known. */
export function outputFileOf(pid: number, descriptor: 1 | 2 = 1): string | null {
  return readLink(`/proc/${pid}/fd/${descriptor}`);
}

/** null when the directory is not known. */
export function workingDirectoryOf(pid: number): string | null {
  return readLink(`/proc/${pid}/cwd`);
}

function readLink(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    // The process is gone or belongs to another user, so nothing is known about it.
    return null;
  }
}

export function readProc(file: string): string | null {
  return known(() => kernelText(file));
}

/** The next read overwrites the returned buffer. */
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
