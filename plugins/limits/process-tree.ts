// The processes of a run, as the kernel knows them: those of its cgroup where it has one, else its leader's
// descendants.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readMounts } from '#kit/mountinfo';

/** How names of the cgroups of runs begin. */
const RUN_CGROUP = 'stackwarden-';
/** A program that creates processes in a circle of parents is not followed for ever. */
const MAX_PROCESSES = 10_000;

/** The directory of the cgroup that a process was put in for its run; null when it has none. */
export async function cgroupOf(pid: number): Promise<string | null> {
  const [, place] = /^0::(\/.*)$/m.exec(await textOf(`/proc/${pid}/cgroup`)) ?? [];
  if (place === undefined || !path.basename(place).startsWith(RUN_CGROUP)) return null;
  const mount = (await readMounts()).find(({ type }) => type === 'cgroup2');
  return mount === undefined ? null : path.join(mount.directory, place);
}

/** The process and its descendants; those that end meanwhile may be among them. */
export async function processesOf(pid: number): Promise<number[]> {
  const cgroup = await cgroupOf(pid);
  const found = new Set([pid, ...(cgroup === null ? [] : numbersIn(await textOf(path.join(cgroup, 'cgroup.procs'))))]);
  for (const parent of found) {
    if (found.size > MAX_PROCESSES) break;
    for (const child of numbersIn(await textOf(`/proc/${parent}/task/${parent}/children`))) found.add(child);
  }
  return [...found];
}

/** Bytes that the processes hold in memory; what they share counts once for each. */
export async function residentBytes(pids: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const pid of pids) {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(await textOf(`/proc/${pid}/status`)) ?? [];
    bytes += Number(kilobytes) * 1_024;
  }
  return bytes;
}

function numbersIn(text: string): number[] {
  return text.split(/\s/).filter(Boolean).map(Number);
}

/** Blank for what is gone. */
async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
