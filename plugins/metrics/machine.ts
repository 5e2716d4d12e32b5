// CPU, memory and disks of the machine, or of this container when it has a cgroup of its own.
import { availableParallelism } from 'node:os';
import type { DiskCounters, SystemUsage } from './contract.ts';
import { CpuMeter } from './cpu-meter.ts';
import { percentOf, procNames, procNumbers, procText } from './proc-text.ts';
import { TICKS_PER_S } from './process-table.ts';

const CGROUP = '/sys/fs/cgroup';
const KIB = 1_024;
const SECTOR_BYTES = 512;
const MS_PER_S = 1_000;
const US_PER_MS = 1_000;
/** The least number of cores that percentages refer to: a smaller quota would make an idle container look busy. */
const LEAST_CPUS = 0.1;
/** How long the list of disks counts, which changes rarely. */
const DISKS_KEPT_MS = 60_000;
/** How long the host counts as outside a container: it stays outside, but cgroup files may be mounted late. */
const NO_CONTAINER_KEPT_MS = 10_000;
const MEMORY_ONLY = /^(?:loop|ram|zram)\d/;

type Usage = Pick<SystemUsage, 'scope' | 'cpuPercent' | 'cpuCount' | 'load' | 'memory' | 'swap' | 'disk'>;

export class MachineMeter {
  readonly #cpu = new CpuMeter();
  #noContainerAtMs = Number.NEGATIVE_INFINITY;
  #disks: { readonly atMs: number; readonly names: ReadonlySet<string> } | undefined;

  /** `wanted` is the configured scope; a container whose limits cannot be read is measured as the machine. */
  read(wanted: 'auto' | 'host' | 'cgroup'): Usage {
    const nowMs = performance.now();
    const container = wanted === 'host' ? undefined : this.#container(nowMs);
    const usage = container ?? this.#host(nowMs);
    this.#cpu.endRound();
    return { ...usage, load: loadOf(procText('/proc/loadavg') ?? '') };
  }

  #host(nowMs: number): Omit<Usage, 'load'> {
    const stat = procText('/proc/stat') ?? '';
    const cpuCount = coresOf(stat);
    const busy = busyMs(stat);
    const percent = busy === null ? null : this.#cpu.percent('host', busy, nowMs, cpuCount);
    const { memory, swap } = hostMemory();
    return { scope: 'host', cpuPercent: capped(percent), cpuCount, memory, swap, disk: this.#diskCounters(nowMs) };
  }

  /** undefined outside a container: the group of the whole machine has no `memory.current`. */
  #container(nowMs: number): Omit<Usage, 'load'> | undefined {
    if (nowMs - this.#noContainerAtMs < NO_CONTAINER_KEPT_MS) return undefined;
    const used = Number(procText(`${CGROUP}/memory.current`) ?? Number.NaN);
    const stat = Number.isFinite(used) ? procText(`${CGROUP}/cpu.stat`) : null;
    if (stat === null) {
      this.#noContainerAtMs = nowMs;
      return undefined;
    }
    const usedUs = procNumbers(stat).get('usage_usec') ?? 0;
    const cpuCount = cpuLimit(procText(`${CGROUP}/cpu.max`)) ?? coresOf(procText('/proc/stat') ?? '');
    const percent = this.#cpu.percent('container', usedUs / US_PER_MS, nowMs, cpuCount);
    return {
      scope: 'cgroup',
      cpuPercent: capped(percent),
      cpuCount,
      memory: containerMemory(used),
      swap: hostMemory().swap,
      disk: containerDisk(procText(`${CGROUP}/io.stat`)),
    };
  }

  #diskCounters(nowMs: number): DiskCounters | null {
    const text = procText('/proc/diskstats');
    if (text === null) return null;
    if (this.#disks === undefined || nowMs - this.#disks.atMs > DISKS_KEPT_MS)
      this.#disks = { atMs: nowMs, names: diskNames() };
    return diskCounters(text, this.#disks.names);
  }
}

/** Disks that are not made of other disks: the work of a volume is already counted at its disks. */
function diskNames(): ReadonlySet<string> {
  const names = procNames('/sys/block').filter(name => !MEMORY_ONLY.test(name));
  return new Set(names.filter(name => procNames(`/sys/block/${name}/slaves`).length === 0));
}

/** Documentation/admin-guide/iostats.rst of the kernel describes the fields. */
export function diskCounters(diskstats: string, names: ReadonlySet<string>): DiskCounters {
  let [reads, readBytes, writes, writtenBytes] = [0, 0, 0, 0];
  for (const line of diskstats.split('\n')) {
    const fields = line.trim().split(/ +/);
    if (!names.has(fields[2] ?? '')) continue;
    reads += Number(fields[3]);
    readBytes += Number(fields[5]) * SECTOR_BYTES;
    writes += Number(fields[7]);
    writtenBytes += Number(fields[9]) * SECTOR_BYTES;
  }
  return { readBytes, writtenBytes, reads, writes };
}

function containerDisk(ioStat: string | null): DiskCounters | null {
  if (ioStat === null) return null;
  const total = (pattern: RegExp): number =>
    [...ioStat.matchAll(pattern)].reduce((sum, found) => sum + Number(found[1]), 0);
  return { readBytes: total(/\brbytes=(\d+)/g), writtenBytes: total(/\bwbytes=(\d+)/g), reads: 0, writes: 0 };
}

/** Time in which the cores were busy, from the first line of /proc/stat: all but `idle` and `iowait`. */
export function busyMs(stat: string): number | null {
  const found = /^cpu +(.*)/.exec(stat);
  if (found === null) return null;
  // The last two fields, the time of guests, are contained in `user` and `nice`.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (found[1] ?? '').split(' ').map(Number);
  return ((user + nice + system + irq + softirq + steal) / TICKS_PER_S) * MS_PER_S;
}

/** Counts the cores in /proc/stat, because `os.cpus` would also ask each core for its frequency. */
function coresOf(stat: string): number {
  return stat.match(/^cpu\d/gm)?.length ?? availableParallelism();
}

/** How many cores a container may use; undefined without a limit. `text` is `<quota> <period>` or `max <period>`. */
export function cpuLimit(text: string | null): number | undefined {
  const [quota, period] = (text ?? '').trim().split(' ').map(Number);
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0)) return undefined;
  return Math.max(LEAST_CPUS, quota / period);
}

function hostMemory(): Pick<SystemUsage, 'memory' | 'swap'> {
  const info = procNumbers(procText('/proc/meminfo') ?? '');
  const bytes = (name: string): number => (info.get(name) ?? 0) * KIB;
  const total = bytes('MemTotal');
  const swapTotal = bytes('SwapTotal');
  return {
    memory: memoryOf(total - bytes('MemAvailable'), total),
    swap: {
      ...memoryOf(swapTotal - bytes('SwapFree'), swapTotal),
      percent: percentOf(swapTotal - bytes('SwapFree'), swapTotal) ?? 0,
    },
  };
}

/** The cache of files is not counted, because the kernel takes it back as soon as a process needs the memory. */
function containerMemory(current: number): SystemUsage['memory'] {
  const cache = procNumbers(procText(`${CGROUP}/memory.stat`) ?? '').get('inactive_file') ?? 0;
  const limit = Number(procText(`${CGROUP}/memory.max`)?.trim());
  const total = Number.isFinite(limit) && limit > 0 ? limit : hostMemory().memory.total;
  return memoryOf(Math.max(0, current - cache), total ?? 0);
}

function memoryOf(used: number, total: number): SystemUsage['memory'] {
  return { used, total, percent: percentOf(used, total) };
}

function loadOf(text: string): SystemUsage['load'] {
  const [one, five, fifteen] = text.split(' ').map(Number);
  if (one === undefined || five === undefined || fifteen === undefined) return null;
  return [one, five, fifteen];
}

/** A percentage may exceed 100, because the counters and the clock are not read at the same moment. */
function capped(percent: number | null): number | null {
  return percent === null ? null : Math.min(percent, 100);
}
