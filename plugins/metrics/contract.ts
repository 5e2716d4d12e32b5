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
  /** 100 is one core; null until two readings of the process lie 0.5 s apart. */
  readonly cpuPercent: number | null;
  readonly rssBytes: number;
  readonly virtualBytes: number;
  readonly threads: number;
  /** null when the kernel does not let the host read it. */
  readonly disk: DiskCounters | null;
  /** Ports that the process listens on, sorted. */
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
  /** The device number of its file system, as `major:minor`; null when the file system is unknown. */
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
  /** Whether the file system did not answer in time. */
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
  /** 100 is all cores, or all that the container may use; null until two readings lie 0.5 s apart. */
  readonly cpuPercent: number | null;
  readonly cpuCount: number;
  /** Load averages over 1, 5 and 15 minutes. */
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

/** The use of the machine and of its processes at one moment. It is never changed after it was made. */
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

/** A managed process, as collectors get it. */
export interface CollectedProcess {
  readonly processName: string;
  readonly pid: number;
  /** The process and all its descendants. */
  readonly pids: readonly number[];
}

/** Adds one member to every sample, under the key of the contribution. The value is JSON. */
export interface MetricsCollector {
  /** Where the member stands: `sample` is beside `system`, `system` is in it, `managed` is in each managed process. */
  readonly place: 'sample' | 'system' | 'managed';
  /**
   * Gives the value; for `managed` an object with the values by process name. A collector that fails or is late gives
   * null.
   */
  collect(processes: readonly CollectedProcess[]): unknown;
  /** Gives the part of the value that the history keeps. Without this function it keeps all of the value. */
  kept?(value: unknown): unknown;
}

export interface MetricsSampler {
  /** Gives the newest sample, or takes a new one when that is older than `maxAgeMs`. Concurrent callers share it. */
  sample(maxAgeMs?: number): Promise<Sample>;
  /** The answer of `GET /metrics` for a sample, as JSON text; made once for each sample. */
  text(sample: Sample): string;
  /** The part of a sample that a history keeps: `GET /metrics` without the members that are useful only live. */
  kept(sample: Sample): Readonly<Record<string, unknown>>;
}

/** Gives a new client of `/ws/metrics` the past, before its first sample. Only the first contribution is asked. */
export interface MetricsIntroduction {
  /**
   * The members of the first frame, as JSON text without the braces, for the query of the client: those of
   * `GET /metrics/history_series` for `bootstrap`, of `GET /metrics/history` for `history`.
   */
  members(kind: 'bootstrap' | 'history', query: Readonly<Record<string, string>>): Promise<string>;
}

declare module '#core' {
  interface Services {
    /** Samples of the machine and its processes, shared by all plugins that need one. */
    'metrics.sampler': MetricsSampler;
  }
  interface Contributions {
    /** Adds a member to every sample. */
    'metrics.collector': MetricsCollector;
    /** Gives a new client of `/ws/metrics` the past. */
    'metrics.introduction': MetricsIntroduction;
  }
}
