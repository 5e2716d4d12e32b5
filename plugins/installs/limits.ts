// How much of the machine installations may take, from its processors and its memory as they are now.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const GIB = 2 ** 30;
const MAX_WORKERS = 8;
const MAX_CHILD_JOBS = 8;
const MAX_NETWORK_JOBS = 16;
/** The processor time of the own control group, as `<microseconds or max> <of so many>`. */
const CPU_QUOTA = '/sys/fs/cgroup/cpu.max';

export interface InstallLimits {
  /** Installations at once. */
  readonly workers: number;
  /** Jobs of one package manager at once. */
  readonly childJobs: number;
  /** Connections of one package manager at once. */
  readonly networkJobs: number;
}

/** `tasks` is the number of installations that wait or run. */
export function installLimits(tasks: number): InstallLimits {
  const cpus = Math.min(availableParallelism(), cpuQuota());
  const memoryGib = process.availableMemory() / GIB;
  const atLeastOne = (count: number): number => Math.max(1, Math.floor(count));
  return {
    workers: atLeastOne(Math.min(tasks, MAX_WORKERS, atLeastOne(cpus / 2), atLeastOne(memoryGib / 2))),
    childJobs: atLeastOne(Math.min(MAX_CHILD_JOBS, Math.ceil(cpus / 4), memoryGib)),
    networkJobs: Math.min(MAX_NETWORK_JOBS, Math.max(2, Math.ceil(cpus / 2))),
  };
}

/** Processors that the container is given, rounded up; Infinity where nothing limits it. */
function cpuQuota(): number {
  try {
    const [quota, period] = readFileSync(CPU_QUOTA, 'utf8').split(' ').map(Number);
    const cpus = Math.ceil((quota ?? Number.NaN) / (period ?? Number.NaN));
    return cpus >= 1 ? cpus : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
