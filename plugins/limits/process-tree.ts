// The processes of a run: those of its cgroup, if it has one, and the descendants of its leader.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { readMounts } from '#kit/mountinfo';

/** The prefix of the names of runs' cgroups. */
const RUN_CGROUP = 'stackwarden-';
/** Where the search stops, in case a program creates processes faster than they are found. */
const MAX_PROCESSES = 10_000;

/** The directory of the cgroup that was made for the run of a process; null when there is none. */
export async function cgroupOf(pid: number): Promise<string | null> {
  const [, place] = /^0::(\/.*)$/m.exec(await textOf(`/proc/${pid}/cgroup`)) ?? [];
  if (place === undefined || !path.basename(place).startsWith(RUN_CGROUP)) return null;
  const mount = (await readMounts()).find(({ type }) => type === 'cgroup2');
  return mount === undefined ? null : path.join(mount.directory, place);
}

/** The process, all in its cgroup, and all descendants. Some may have ended meanwhile. */
export async function processesOf(pid: number): Promise<number[]> {
  const cgroup = await cgroupOf(pid);
  const found = new Set([pid, ...(cgroup === null ? [] : numbersIn(await textOf(path.join(cgroup, 'cgroup.procs'))))]);
  for (const parent of found) {
    if (found.size > MAX_PROCESSES) break;
    for (const thread of await threadsOf(parent).catch(() => []))
      for (const child of numbersIn(await textOf(`/proc/${parent}/task/${thread}/children`))) found.add(child);
  }
  return [...found];
}

/** The kernel keeps a priority for each thread, and a list of the children that it has forked. */
export async function threadsOf(pid: number): Promise<number[]> {
  return (await readdir(`/proc/${pid}/task`)).map(Number);
}

/** The resident memory of the processes in bytes; shared memory counts once for each of them. */
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

/** '' for a file that is gone. */
async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
