// The Prometheus metrics of the machine and of the managed processes.
import type { ExportedMetrics, MetricFamily, MetricSample } from '../prometheus/contract.ts';
import type { ManagedUsage, MetricsSampler, Sample } from './contract.ts';

const CORE_PERCENT = 100;

export function usageMetrics(sampler: MetricsSampler): ExportedMetrics {
  return {
    async families() {
      const sample = await sampler.sample();
      return [...machineFamilies(sample), ...managedFamilies(sample)];
    },
  };
}

function machineFamilies({ system }: Sample): MetricFamily[] {
  const { cpuPercent, cpuCount, load, memory, swap, disk, network, fileSystems } = system;
  const [load1 = null, load5 = null, load15 = null] = load ?? [];
  const places = (value: (one: (typeof fileSystems)[number]) => number | null): MetricSample[] =>
    fileSystems.map(one => ({ labels: { path: one.path }, value: value(one) }));
  const of = (name: string, help: string, type: 'gauge' | 'counter', value: number | null): MetricFamily => ({
    name,
    help,
    type,
    samples: [{ value }],
  });
  return [
    of('machine_cpu_ratio', 'Part of all cores that is used.', 'gauge', part(cpuPercent)),
    of('machine_cores', 'Cores that can be used.', 'gauge', cpuCount),
    {
      name: 'machine_load',
      help: 'Average number of processes that run or wait, over 1, 5 and 15 minutes.',
      type: 'gauge',
      samples: Object.entries({ 1: load1, 5: load5, 15: load15 }).map(([minutes, value]) => ({
        labels: { minutes },
        value,
      })),
    },
    of('machine_memory_bytes', 'Memory of the machine.', 'gauge', memory.total),
    of('machine_memory_used_bytes', 'Memory that is used.', 'gauge', memory.used),
    of('machine_swap_used_bytes', 'Swap space that is used.', 'gauge', swap.used),
    of('machine_disk_read_bytes', 'Bytes read from disks.', 'counter', disk?.readBytes ?? null),
    of('machine_disk_written_bytes', 'Bytes written to disks.', 'counter', disk?.writtenBytes ?? null),
    of('machine_network_received_bytes', 'Bytes received.', 'counter', network.receivedBytes),
    of('machine_network_sent_bytes', 'Bytes sent.', 'counter', network.sentBytes),
    {
      name: 'filesystem_available',
      help: 'Whether the file system answers.',
      type: 'gauge',
      samples: places(({ available }) => Number(available)),
    },
    {
      name: 'filesystem_size_bytes',
      help: 'Space of the file system.',
      type: 'gauge',
      samples: places(({ space }) => space.total),
    },
    {
      name: 'filesystem_free_bytes',
      help: 'Free space of the file system.',
      type: 'gauge',
      samples: places(({ space }) => space.free),
    },
  ];
}

/** Each value is the sum over a managed process and all its descendants. */
function managedFamilies({ managed }: Sample): MetricFamily[] {
  const of = (
    name: string,
    help: string,
    type: 'gauge' | 'counter',
    value: (usage: ManagedUsage) => number | null,
  ): MetricFamily => {
    const samples = managed.map(usage => ({ labels: { process: usage.processName }, value: value(usage) }));
    return { name, help, type, samples };
  };
  return [
    of('process_cpu_cores', 'Cores that the process and its descendants keep busy.', 'gauge', usage =>
      part(usage.cpuPercent),
    ),
    of(
      'process_memory_bytes',
      'Resident memory of the process and its descendants.',
      'gauge',
      ({ rssBytes }) => rssBytes,
    ),
    of('process_threads', 'Threads of the process and its descendants.', 'gauge', ({ threads }) => threads),
    of(
      'process_members',
      'Number of processes: the process and its descendants.',
      'gauge',
      ({ processCount }) => processCount,
    ),
    of(
      'process_disk_read_bytes',
      'Bytes that the process and its descendants have read from disks.',
      'counter',
      ({ disk }) => disk?.readBytes ?? null,
    ),
    of(
      'process_disk_written_bytes',
      'Bytes that the process and its descendants have written to disks.',
      'counter',
      ({ disk }) => disk?.writtenBytes ?? null,
    ),
  ];
}

function part(percent: number | null): number | null {
  return percent === null ? null : percent / CORE_PERCENT;
}
