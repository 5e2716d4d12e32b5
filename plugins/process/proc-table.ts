// What the kernel says about processes. A zombie is dead here, and a pid alone is never an identity.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Names one process for as long as the machine runs: pids are used again, a start time under one boot is not. */
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
}

export const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** null when there is no such process. */
export function readStat(pid: number): ProcessStat | null {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The command in parentheses may itself hold parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parentPid: Number(fields[1]),
    state: fields[0] ?? '',
    pgid: Number(fields[2]),
    startTime: Number(fields[19]),
  };
}

export function identify(pid: number): ProcessIdentity | null {
  const stat = readStat(pid);
  return stat === null ? null : { pid, startTime: stat.startTime, bootId };
}

/** Whether that very process runs. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId) return false;
  const stat = readStat(identity.pid);
  return stat !== null && stat.startTime === identity.startTime && isRunning(stat);
}

/** Living members of a process group. */
export function groupMembers(pgid: number): ProcessStat[] {
  return livingProcesses().filter(stat => stat.pgid === pgid);
}

/** Living processes whose environment holds `NAME=value`: descendants that left the group keep it. */
export function processesWithVariable(name: string, value: string): ProcessStat[] {
  const wanted = `${name}=${value}`;
  return livingProcesses().filter(({ pid }) => readProc(`/proc/${pid}/environ`)?.split('\0').includes(wanted) ?? false);
}

/** Living processes whose working directory this is. */
export function processesIn(directory: string): ProcessStat[] {
  return livingProcesses().filter(({ pid }) => workingDirectory(pid) === directory);
}

function workingDirectory(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // Gone meanwhile, or another user's: it tells nothing either way.
    return null;
  }
}

function livingProcesses(): ProcessStat[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => readStat(Number(name)))
    .filter(stat => stat !== null)
    .filter(isRunning);
}

function isRunning({ state }: ProcessStat): boolean {
  return state !== 'Z' && state !== 'X' && state !== 'x';
}

function readProc(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // gone meanwhile, or another user's: it tells nothing either way
    return null;
  }
}
