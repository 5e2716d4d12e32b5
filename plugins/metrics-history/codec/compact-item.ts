// The part of a sample that charts need, called its item, and the numbers of which curves are made, called its point.
// Samples may come from the files of an earlier program, so nothing about their form is certain.

type Json = Readonly<Record<string, unknown>>;

/** The two numbers of a path or an interface at one moment; null for an unknown number. */
export type Pair = readonly [first: number | null, second: number | null];

export interface Point {
  readonly cpu: number | null;
  readonly mem: number | null;
  readonly disk: number | null;
  readonly inode: number | null;
  /** Bytes since the start of the machine, as in the three members that follow. */
  readonly diskRead: number | null;
  readonly diskWritten: number | null;
  readonly netSent: number | null;
  readonly netReceived: number | null;
  /** Percent of space and of inodes, by path. */
  readonly fileSystems: ReadonlyMap<string, Pair>;
  /** Bytes sent and received, by name. */
  readonly interfaces: ReadonlyMap<string, Pair>;
}

/** A point with its time. */
export interface TimedPoint extends Point {
  readonly atMs: number;
}

const INTERFACE_MEMBERS = [
  'name',
  'available',
  'is_up',
  'speed_mbps',
  'mtu',
  'sent_bytes',
  'recv_bytes',
  'sent_packets',
  'recv_packets',
  'errors_in',
  'errors_out',
  'drops_in',
  'drops_out',
];
const PROCESS_MEMBERS = ['name', 'pid', 'cpu_percent', 'rss'];
const LISTED = new Set(['timestamp', 'system', 'dumb_managed', 'external']);

/** The item of a sample. Members that plugins added beside `system` stay as they are. */
export function compactItem(sample: Json): Record<string, unknown> {
  const system = recordOf(sample.system);
  const others = Object.entries(sample).filter(([key]) => !LISTED.has(key));
  return {
    timestamp: sample.timestamp,
    system: {
      cpu_percent: system.cpu_percent ?? null,
      cpu_count: system.cpu_count ?? null,
      mem: picked(system.mem, ['percent']),
      disk: picked(system.disk, ['percent']),
      inode: picked(system.inode, ['percent']),
      filesystems: listOf(system.filesystems).map(entry => ({
        ...picked(entry, ['path', 'mount_point', 'fs_type', 'available', 'percent']),
        inode: picked(entry.inode, ['percent']),
      })),
      disk_io: picked(system.disk_io, ['read_bytes', 'write_bytes']),
      net_io: picked(system.net_io, ['sent_bytes', 'recv_bytes']),
      network_interfaces: listOf(system.network_interfaces).map(entry => picked(entry, INTERFACE_MEMBERS)),
    },
    dumb_managed: listOf(sample.dumb_managed).map(processOf),
    external: listOf(sample.external).map(processOf),
    ...Object.fromEntries(others),
  };
}

/** The JSON text of the item of a sample. */
export function itemIn(sample: Json): Buffer {
  return Buffer.from(JSON.stringify(compactItem(sample)));
}

export function pointOf(sample: Json): Point {
  const system = recordOf(sample.system);
  const percent = (value: unknown): number | null => numberOf(recordOf(value).percent);
  const disk = recordOf(system.disk_io);
  const net = recordOf(system.net_io);
  return {
    cpu: numberOf(system.cpu_percent),
    mem: percent(system.mem),
    disk: percent(system.disk),
    inode: percent(system.inode),
    diskRead: numberOf(disk.read_bytes),
    diskWritten: numberOf(disk.write_bytes),
    netSent: numberOf(net.sent_bytes),
    netReceived: numberOf(net.recv_bytes),
    fileSystems: new Map(
      listOf(system.filesystems).map(entry => [String(entry.path), [numberOf(entry.percent), percent(entry.inode)]]),
    ),
    interfaces: new Map(
      listOf(system.network_interfaces).map(entry => [
        String(entry.name),
        [numberOf(entry.sent_bytes), numberOf(entry.recv_bytes)],
      ]),
    ),
  };
}

function processOf(entry: Json): Record<string, unknown> {
  const disk = entry.disk_io;
  return {
    ...picked(entry, PROCESS_MEMBERS),
    disk_io: isRecord(disk) ? picked(disk, ['read_bytes', 'write_bytes']) : null,
  };
}

function picked(value: unknown, members: readonly string[]): Record<string, unknown> {
  const record = recordOf(value);
  return Object.fromEntries(members.map(member => [member, record[member] ?? null]));
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
