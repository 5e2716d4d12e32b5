// What metrics offers to other plugins: samples of the machine and its processes, and a point that adds members to
// them.

/** Bytes and operations since the start of the machine or of the process. */
export interface DiskCounters {
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly reads: number;
  readonly writes: number;
}

export interface Connection {
  readonly local: readonly [address: string, port: number];
  readonly remote: readonly [address: string, port: number];
}

export interface ProcessUsage {
  readonly pid: number;
  /** 100 is one core; null until two readings of it lie 0.5 s apart. */
  readonly cpuPercent: number | null;
  readonly rssBytes: number;
  readonly virtualBytes: number;
  readonly threads: number;
  /** null when the kernel does not tell it. */
  readonly disk: DiskCounters | null;
  /** Ports that it listens on, sorted. */
  readonly ports: readonly number[];
}

/** A managed process with all its descendants, summed. */
export interface ManagedUsage extends ProcessUsage {
  readonly processName: string;
  /** Unix seconds. */
  readonly startedAt: number;
  /** How many processes are summed. */
  readonly processCount: number;
  /** Established connections, at most 50. */
  readonly connections: readonly Connection[];
  readonly configuredPorts: readonly number[];
  readonly places: readonly PlaceUsage[];
}

/** A directory that a service uses. */
export interface PlaceUsage {
  readonly path: string;
  readonly exists: boolean;
  /** The kernel's numbers of the file system that it lies on; null where that is unknown. */
  readonly device: string | null;
  /** null when its mount does not answer. */
  readonly space: Space | null;
}

export interface ExternalUsage extends ProcessUsage {
  readonly name: string;
  /** null outside containers. */
  readonly containerId: string | null;
}

/** Unknown numbers are null; `percent` is of what can be used, from 0 to 100. */
export interface Space {
  readonly total: number | null;
  readonly used: number | null;
  readonly free: number | null;
  readonly percent: number | null;
}

export interface FileSystemUsage {
  /** The path as it is configured. */
  readonly path: string;
  readonly mountPoint: string | null;
  /** For example `ext4` or `fuse.sshfs`. */
  readonly type: string | null;
  readonly available: boolean;
  /** Whether it did not answer in time. */
  readonly stalled: boolean;
  /** In bytes. */
  readonly space: Space;
  readonly inodes: Space;
}

export interface NetworkCounters {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sentPackets: number;
  readonly receivedPackets: number;
  readonly receiveErrors: number;
  readonly sendErrors: number;
  readonly receiveDrops: number;
  readonly sendDrops: number;
}

export interface InterfaceUsage {
  readonly name: string;
  /** null when the interface is gone. */
  readonly counters: NetworkCounters | null;
  readonly isUp: boolean | null;
  /** Mbit/s. */
  readonly speed: number | null;
  readonly mtu: number | null;
}

export interface SystemUsage {
  /** Whether CPU, memory and disk are those of the machine or those of this container. */
  readonly scope: 'host' | 'cgroup';
  /** Of all cores, or of what the container may use; null until two readings lie 0.5 s apart. */
  readonly cpuPercent: number | null;
  readonly cpuCount: number;
  /** Over 1, 5 and 15 minutes. */
  readonly load: readonly [number, number, number] | null;
  readonly memory: Omit<Space, 'free'>;
  readonly swap: Omit<Space, 'free'>;
  /** In the order of the configuration. */
  readonly fileSystems: readonly FileSystemUsage[];
  readonly disk: DiskCounters | null;
  readonly network: NetworkCounters;
  readonly interfaces: readonly InterfaceUsage[];
  /** Unix seconds at which the machine started. */
  readonly bootedAt: number;
  /** Unix seconds at which process 1 started. */
  readonly containerStartedAt: number | null;
}

/** Everything at one moment. It is never changed after it was made. */
export interface Sample {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly system: SystemUsage;
  readonly managed: readonly ManagedUsage[];
  /** The 20 other processes that use most CPU time. */
  readonly external: readonly ExternalUsage[];
  /** What contributions to `metrics.collector` added, by place and key. */
  readonly collected: CollectedMembers;
}

export interface CollectedMembers {
  readonly sample: Readonly<Record<string, unknown>>;
  readonly system: Readonly<Record<string, unknown>>;
  /** By process name, then by key. */
  readonly managed: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** What a collector of members of managed processes is told of each. */
export interface CollectedProcess {
  readonly processName: string;
  readonly pid: number;
  /** The process and all its descendants. */
  readonly pids: readonly number[];
}

/** Adds one member to every sample, under the key of the contribution. What it gives is JSON. */
export interface MetricsCollector {
  /** Where the member stands: beside `system`, in it, or in each managed process. */
  readonly place: 'sample' | 'system' | 'managed';
  /**
   * Gives the value; for `managed` an object with the values by process name. A collector that fails or is late gives
   * null.
   */
  collect(processes: readonly CollectedProcess[]): unknown;
  /** What of the value is kept in the history; absent: all of it. */
  kept?(value: unknown): unknown;
}

export interface MetricsSampler {
  /** The newest sample, or a new one when it is older than `maxAgeMs`. Callers at one time share a sample. */
  sample(maxAgeMs?: number): Promise<Sample>;
  /** The newest sample; undefined before the first. Never takes one. */
  newest(): Sample | undefined;
  /** The JSON text of a sample as `GET /metrics` answers it; made once for each sample. */
  text(sample: Sample): string;
  /** What a history keeps of a sample: the answer of `GET /metrics` without what is of use live only. */
  kept(sample: Sample): Readonly<Record<string, unknown>>;
}

/** What a new client of `/ws/metrics` gets of the past, before the first sample. The first contribution counts. */
export interface MetricsIntroduction {
  /**
   * The members of the first frame, as JSON text without the braces, for the query of the client: those of
   * `GET /metrics/history_series` for `bootstrap`, of `GET /metrics/history` for `history`.
   */
  members(kind: 'bootstrap' | 'history', query: Readonly<Record<string, string>>): Promise<string>;
}

declare module '#core' {
  interface Services {
    /** Samples of the machine and its processes, shared by everybody who needs one. */
    'metrics.sampler': MetricsSampler;
  }
  interface Contributions {
    /** Adds a member to every sample. */
    'metrics.collector': MetricsCollector;
    /** What a new client of `/ws/metrics` gets of the past. */
    'metrics.introduction': MetricsIntroduction;
  }
}
