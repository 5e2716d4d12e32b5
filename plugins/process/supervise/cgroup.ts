// One cgroup for each run, below the host's own: nothing that a run has created can leave it, whatever it does to its
// session, its parents and its environment. Runs have none where the host may not write to cgroups of version 2.
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lacksDescriptors, withReserve } from '#kit/descriptors';
import { kernelText } from '#kit/kernel-text';
import { readMounts } from '#kit/mountinfo';

const PREFIX = 'stackwarden-';
/**
 * A host in a cgroup of this name, as by DelegateSubgroup of a systemd unit, puts its runs beside that cgroup and not
 * below it: the kernel sets no limits below a cgroup that has processes of its own.
 */
const HOST_CGROUP = 'stackwarden-host';
const ENTER_ATTEMPTS = 3;
/** Stands for the cgroup of a run that has none. */
export const NO_CGROUP = '';

export function nameOfCgroup(runId: string): string {
  return PREFIX + runId;
}

/** The directory of a new cgroup, or NO_CGROUP where none can be made. */
export async function makeCgroup(runId: string): Promise<string> {
  const own = await ownCgroup();
  if (own === null) return NO_CGROUP;
  const directory = path.join(own, nameOfCgroup(runId));
  try {
    await mkdir(directory);
    return directory;
  } catch {
    // As in most containers, cgroups may only be read; runs are then known by other marks.
    return NO_CGROUP;
  }
}

/** The cgroup of a run whose record is lost, or NO_CGROUP. */
export async function findCgroup(runId: string): Promise<string> {
  const own = await ownCgroup();
  const directory = own === null ? NO_CGROUP : path.join(own, nameOfCgroup(runId));
  return existsSync(directory) ? directory : NO_CGROUP;
}

/**
 * Moves a process into a cgroup, unless the process has ended; what it creates from then on is in the cgroup, too.
 * Another host of this machine may have removed the cgroup while it was empty; it is then made again.
 */
export async function enterCgroup(directory: string, pid: number): Promise<void> {
  for (let attempt = 0; attempt < ENTER_ATTEMPTS; attempt += 1) {
    try {
      await writeFile(path.join(directory, 'cgroup.procs'), String(pid), { flag: 'r+' });
      return;
    } catch (error) {
      // Any other error means that the process has ended.
      if (!isGone(error)) return;
      await mkdir(directory, { recursive: true }).catch(() => undefined);
    }
  }
}

/** Whether a cgroup was removed, before its file was opened or since. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENODEV';
}

/** Pids of the living processes in a cgroup. */
export function pidsIn(directory: string): number[] {
  if (directory === NO_CGROUP) return [];
  try {
    const text = withReserve(() => kernelText(path.join(directory, 'cgroup.procs')));
    return text.split('\n').filter(Boolean).map(Number);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // The cgroup is gone, or was in a container that is gone.
    return [];
  }
}

/** Removes a cgroup, unless it still has processes: the kernel refuses that. */
export function removeCgroup(directory: string): void {
  if (directory === NO_CGROUP) return;
  try {
    rmdirSync(directory);
  } catch {
    // `removeEmptyCgroups` of a later host finds it.
  }
}

/** Removes the empty cgroups that killed hosts have left. */
export async function removeEmptyCgroups(): Promise<void> {
  const own = await ownCgroup();
  if (own === null) return;
  for (const name of readdirSync(own)) if (name.startsWith(PREFIX)) removeCgroup(path.join(own, name));
}

let found: Promise<string | null> | undefined;

function ownCgroup(): Promise<string | null> {
  found ??= findOwnCgroup();
  return found;
}

async function findOwnCgroup(): Promise<string | null> {
  try {
    const [, place] = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8')) ?? [];
    const mount = (await readMounts()).find(({ type }) => type === 'cgroup2');
    if (place === undefined || mount === undefined) return null;
    return path.join(mount.directory, path.basename(place) === HOST_CGROUP ? path.dirname(place) : place);
  } catch {
    // Without /proc there are no cgroups either.
    return null;
  }
}
