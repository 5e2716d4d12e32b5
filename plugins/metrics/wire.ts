// Samples on the wire, and the form in which a history keeps them.
import { z } from 'zod';
import type { Contribution, ResponseBody } from '#core';
import type {
  CollectedMembers,
  DiskCounters,
  ExternalUsage,
  FileSystemUsage,
  InterfaceUsage,
  ManagedUsage,
  MetricsCollector,
  NetworkCounters,
  ProcessUsage,
  Sample,
  Space,
} from './contract.ts';

const number = z.number().nullable();
const spaceSchema = z.object({ total: number, used: number, free: number, percent: number });
const totalSchema = z.object({ total: number, used: number, percent: number });
const diskSchema = z.lazy(() =>
  z.object({ read_bytes: z.int(), write_bytes: z.int(), read_count: z.int(), write_count: z.int() }).nullable(),
);
/** The counters of the machine or the container: the object is always there, with null for unknown counters. */
const allDisksSchema = z.object({ read_bytes: number, write_bytes: number, read_count: number, write_count: number });

const fileSystemSchema = z.lazy(() =>
  spaceSchema.extend({
    path: z.string(),
    mount_point: z.string().nullable(),
    fs_type: z.string().nullable(),
    available: z.boolean(),
    stalled: z.literal(true).optional(),
    inode: spaceSchema.extend({ path: z.string() }),
  }),
);

const countersSchema = {
  sent_bytes: number,
  recv_bytes: number,
  sent_packets: number,
  recv_packets: number,
  errors_in: number,
  errors_out: number,
  drops_in: number,
  drops_out: number,
};

const interfaceSchema = z.lazy(() =>
  z.object({
    name: z.string(),
    available: z.boolean(),
    is_up: z.boolean().nullable(),
    speed_mbps: number,
    mtu: number,
    ...countersSchema,
  }),
);

const processSchema = z.lazy(() =>
  z.object({
    name: z.string(),
    pid: z.int(),
    cpu_percent: number,
    rss: z.int(),
    vms: z.int(),
    threads: z.int(),
    disk_io: diskSchema,
    ports: z.array(z.int()).optional(),
  }),
);

const address = z.tuple([z.string(), z.int()]);

const managedSchema = z.lazy(() =>
  processSchema.unwrap().extend({
    start_time: z.number(),
    process_count: z.int(),
    net_connections: z.array(z.object({ status: z.literal('ESTABLISHED'), laddr: address, raddr: address })).optional(),
    disk_paths: z.object({
      paths: z.array(z.object({ path: z.string(), exists: z.boolean(), usage: totalSchema.nullable() })),
      used_total: z.number(),
    }),
    ports_config: z.array(z.int()).optional(),
  }),
);

/** The answer of `GET /metrics`; plugins add members. */
export const sampleSchema = z.lazy(() =>
  z.looseObject({
    timestamp: z.number(),
    system: z.looseObject({
      scope: z.enum(['host', 'cgroup']),
      cpu_percent: number,
      cpu_count: z.number(),
      load_avg: z.tuple([z.number(), z.number(), z.number()]).nullable(),
      mem: totalSchema,
      swap: totalSchema,
      /** The first of `filesystems`. */
      disk: fileSystemSchema.unwrap().omit({ inode: true }).partial(),
      inode: fileSystemSchema.unwrap().shape.inode.optional(),
      filesystems: z.array(fileSystemSchema),
      disk_io: allDisksSchema,
      net_io: z.object(countersSchema),
      network_interfaces: z.array(interfaceSchema),
      boot_time: z.number(),
      container_start_time: number,
    }),
    dumb_managed: z.array(z.looseObject(managedSchema.unwrap().shape)),
    external: z.array(processSchema.unwrap().extend({ container_id: z.string().nullable() })),
  }),
);

export const fileSystemsSchema = z.lazy(() =>
  z.object({
    configured_paths: z.array(z.string()),
    candidates: z.array(fileSystemSchema),
  }),
);

export const interfacesSchema = z.lazy(() =>
  z.object({
    configured_interfaces: z.array(z.string()),
    candidates: z.array(interfaceSchema),
  }),
);

export function sampleToWire(sample: Sample): ResponseBody<typeof sampleSchema> {
  return toWire(sample, sample.collected, managed => ({ ...keptOf(managed), ...liveOf(managed) }));
}

/** The form that a history keeps: without the members that are useful only live, or that collectors do not keep. */
export function sampleToKept(
  sample: Sample,
  collectors: Iterable<Contribution<MetricsCollector>>,
): Record<string, unknown> {
  const { system, managed, sample: beside } = sample.collected;
  const byPlace = { sample: { ...beside }, system: { ...system }, managed: new Map(managed) };
  for (const { key, value: collector } of collectors) {
    const { kept } = collector;
    if (kept === undefined) continue;
    if (collector.place !== 'managed') byPlace[collector.place][key] = keptBy(kept, byPlace[collector.place][key]);
    else
      for (const [name, members] of byPlace.managed)
        byPlace.managed.set(name, { ...members, [key]: keptBy(kept, members[key]) });
  }
  return toWire(sample, byPlace, keptOf);
}

function keptBy(kept: (value: unknown) => unknown, value: unknown): unknown {
  try {
    return value === null || value === undefined ? null : (kept(value) ?? null);
  } catch {
    // The host has already counted and logged the failure.
    return null;
  }
}

function toWire<Managed>(
  { timestamp, system, managed, external }: Sample,
  collected: CollectedMembers,
  managedToWire: (usage: ManagedUsage) => Managed,
) {
  const fileSystems = system.fileSystems.map(fileSystemToWire);
  const { inode, ...disk } = fileSystems[0] ?? {};
  return {
    timestamp,
    system: {
      scope: system.scope,
      cpu_percent: system.cpuPercent,
      cpu_count: system.cpuCount,
      load_avg: system.load,
      mem: system.memory,
      swap: system.swap,
      disk,
      inode,
      filesystems: fileSystems,
      disk_io: diskToWire(system.disk) ?? NO_DISKS,
      net_io: countersToWire(system.network),
      network_interfaces: system.interfaces.map(interfaceToWire),
      boot_time: system.bootedAt,
      container_start_time: system.containerStartedAt,
      ...collected.system,
    },
    dumb_managed: managed.map(usage => ({
      ...managedToWire(usage),
      ...collected.managed.get(usage.processName),
    })),
    external: external.map(externalToWire),
    ...collected.sample,
  };
}

export function fileSystemToWire(usage: FileSystemUsage) {
  const { path, mountPoint, type, available, stalled, space, inodes } = usage;
  return {
    path,
    mount_point: mountPoint,
    fs_type: type,
    available,
    ...(stalled ? { stalled: true as const } : {}),
    ...space,
    inode: { ...inodes, path },
  };
}

export function interfaceToWire({ name, counters, isUp, speed, mtu }: InterfaceUsage) {
  return { name, available: counters !== null, is_up: isUp, speed_mbps: speed, mtu, ...countersToWire(counters) };
}

function countersToWire(counters: NetworkCounters | null) {
  return {
    sent_bytes: counters?.sentBytes ?? null,
    recv_bytes: counters?.receivedBytes ?? null,
    sent_packets: counters?.sentPackets ?? null,
    recv_packets: counters?.receivedPackets ?? null,
    errors_in: counters?.receiveErrors ?? null,
    errors_out: counters?.sendErrors ?? null,
    drops_in: counters?.receiveDrops ?? null,
    drops_out: counters?.sendDrops ?? null,
  };
}

const NO_DISKS = { read_bytes: null, write_bytes: null, read_count: null, write_count: null };

function diskToWire(disk: DiskCounters | null) {
  if (disk === null) return null;
  return {
    read_bytes: disk.readBytes,
    write_bytes: disk.writtenBytes,
    read_count: disk.reads,
    write_count: disk.writes,
  };
}

function processToWire(name: string, usage: ProcessUsage) {
  return {
    name,
    pid: usage.pid,
    cpu_percent: usage.cpuPercent,
    rss: usage.rssBytes,
    vms: usage.virtualBytes,
    threads: usage.threads,
    disk_io: diskToWire(usage.disk),
    ...(usage.ports.length === 0 ? {} : { ports: usage.ports }),
  };
}

function externalToWire(usage: ExternalUsage) {
  return { ...processToWire(usage.name, usage), container_id: usage.containerId };
}

function keptOf(usage: ManagedUsage) {
  return {
    ...processToWire(usage.processName, usage),
    start_time: usage.startedAt,
    process_count: usage.processCount,
  };
}

function liveOf({ connections, places, configuredPorts }: ManagedUsage) {
  const paths = places.map(({ path, exists, space }) => ({
    path,
    exists,
    usage: space === null ? null : totalOf(space),
  }));
  const established = connections.map(({ local, remote }) => ({
    status: 'ESTABLISHED' as const,
    laddr: local,
    raddr: remote,
  }));
  return {
    ...(established.length === 0 ? {} : { net_connections: established }),
    disk_paths: { paths, used_total: usedOf(places) },
    ...(configuredPorts.length === 0 ? {} : { ports_config: configuredPorts }),
  };
}

/** The used bytes of all file systems that hold the directories; each file system counts once. */
function usedOf(places: ManagedUsage['places']): number {
  const used = new Map(places.map(({ device, space }) => [device, space?.used ?? 0]));
  return [...used.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function totalOf({ total, used, percent }: Space): Omit<Space, 'free'> {
  return { total, used, percent };
}
