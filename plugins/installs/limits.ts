// How much of the machine installations may use, from its processors and its available memory.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const GIB = 2 ** 30;
const MAX_WORKERS = 8;
const MAX_CHILD_JOBS = 8;
const MAX_NETWORK_JOBS = 16;
/** The limit of processor time of this control group, as `<microseconds or max> <period in microseconds>`. */
const CPU_QUOTA = '/sys/fs/cgroup/cpu.max';

export interface InstallLimits {
  /** How many installations run at once. */
  readonly workers: number;
  /** How many jobs one package manager runs at once. */
  readonly childJobs: number;
  /** How many connections one package manager holds at once. */
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

/** The processors that the container may use, rounded up; Infinity without a limit. */
function cpuQuota(): number {
  try {
    const [quota, period] = readFileSync(CPU_QUOTA, 'utf8').split(' ').map(Number);
    const cpus = Math.ceil((quota ?? Number.NaN) / (period ?? Number.NaN));
    return cpus >= 1 ? cpus : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
