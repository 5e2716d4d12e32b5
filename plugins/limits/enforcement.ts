// Sets the limits of one run right after its launch, by cgroup or by prlimit, depending on what the machine allows.
import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { reasonText } from '#kit/error-text';
import { publicEnvironment } from '#kit/public-environment';
import { cgroupOf, processesOf, threadsOf } from './process-tree.ts';
import { bytesOf, type LimitKeys } from './settings.ts';

const run = promisify(execFile);
const PRLIMIT_MS = 5_000;
/** How often new descendants are looked for. Later ones inherit the limits of their parents. */
const ROUNDS = 3;
/** How often it is checked whether the new run is in its cgroup: the host moves it there beside the launch. */
const MOVE_POLL_MS = 10;
const MOVE_POLLS = 50;
const CPU_PERIOD_US = 100_000;

/** `cgroup` bounds all processes of the run together, `prlimit` each of them. */
type Means = 'cgroup' | 'prlimit' | 'none';

/** What enforces each limit of the block, and why a limit could not be set. */
export interface Enforcement {
  readonly means: Readonly<Record<string, Means>>;
  readonly faults: readonly string[];
}

export async function enforce(pid: number, { nice, limits = {} }: LimitKeys): Promise<Enforcement> {
  const { memory, cpu, open_files: openFiles } = limits;
  const means: Record<string, Means> = {};
  const faults: string[] = [];
  const cgroup = memory === undefined && cpu === undefined ? null : await movedCgroup(pid);
  const inCgroup = async (file: string, controller: string, value: string): Promise<boolean> =>
    cgroup !== null && (await writeLimit(cgroup, file, controller, value));
  const resources: string[] = [];
  if (memory !== undefined) {
    const bytes = bytesOf(memory);
    means.memory = (await inCgroup('memory.max', 'memory', String(bytes))) ? 'cgroup' : 'prlimit';
    if (means.memory === 'prlimit') resources.push(`--data=${bytes}`);
  }
  if (cpu !== undefined) {
    const quota = `${Math.max(1_000, Math.round(cpu * CPU_PERIOD_US))} ${CPU_PERIOD_US}`;
    means.cpu = (await inCgroup('cpu.max', 'cpu', quota)) ? 'cgroup' : 'none';
    if (means.cpu === 'none') faults.push('its processors are not limited, because no cgroup with that can be written');
  }
  if (openFiles !== undefined) {
    means.open_files = 'prlimit';
    resources.push(`--nofile=${openFiles}`);
  }
  const fault = await limitEach(pid, resources, nice);
  return fault === null ? { means, faults } : { means: withoutPrlimit(means), faults: [...faults, fault] };
}

function withoutPrlimit(means: Readonly<Record<string, Means>>): Record<string, Means> {
  return Object.fromEntries(Object.entries(means).map(([key, by]) => [key, by === 'prlimit' ? 'none' : by]));
}

/** The cgroup of the run, after a short wait for the process to be moved into it; null when it has none. */
async function movedCgroup(pid: number): Promise<string | null> {
  for (let poll = 0; poll < MOVE_POLLS; poll += 1) {
    const found = await cgroupOf(pid);
    if (found !== null) return found;
    await delay(MOVE_POLL_MS);
  }
  return null;
}

/** Returns false when the kernel does not offer the limit or allow it, as in most containers. */
async function writeLimit(cgroup: string, file: string, controller: string, value: string): Promise<boolean> {
  const write = () => writeFile(path.join(cgroup, file), value, { flag: 'r+' });
  try {
    await write().catch(async () => {
      await writeFile(path.join(path.dirname(cgroup), 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
      await write();
    });
    return true;
  } catch {
    return false;
  }
}

/** Limits each process of the run. Later processes inherit the limits. Returns why that failed, or null. */
async function limitEach(
  leader: number,
  resources: readonly string[],
  nice: number | undefined,
): Promise<string | null> {
  const done = new Set<number>();
  // -0 becomes 0, because Node aborts for a priority of -0.
  const priority = nice === undefined ? undefined : nice + 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const others = (await processesOf(leader)).filter(pid => !done.has(pid));
    for (const pid of others) {
      done.add(pid);
      const fault = await limitOne(pid, resources, priority);
      // A failure at a descendant is ignored: it may have ended meanwhile.
      if (fault !== null && pid === leader) return fault;
    }
  }
  return null;
}

async function limitOne(
  pid: number,
  resources: readonly string[],
  priority: number | undefined,
): Promise<string | null> {
  try {
    if (priority !== undefined) for (const thread of await threadsOf(pid)) setPriority(thread, priority);
    if (resources.length > 0) await setResources(pid, resources);
    return null;
  } catch (error) {
    return `its limits cannot be set (${reasonText(error)})`;
  }
}

/**
 * Runs prlimit as the user of the process, who may lower its limits: in most containers root may not change limits of
 * other users' processes. Only root may raise limits, so it is tried after that.
 */
async function setResources(pid: number, resources: readonly string[]): Promise<void> {
  const set = (as: { readonly uid?: number; readonly gid?: number }) =>
    run('prlimit', ['--pid', String(pid), ...resources], {
      ...as,
      env: publicEnvironment(process.env),
      cwd: '/',
      timeout: PRLIMIT_MS,
    });
  if (process.getuid?.() !== 0) return void (await set({}));
  const { uid, gid } = await stat(`/proc/${pid}`);
  await set({ uid, gid }).catch(() => set({}));
}
