// The answers of routes and messages of streams, with only those members that the page uses.

export interface ProcessEntry {
  readonly process_name: string;
  readonly name: string;
  readonly config_key: string;
  readonly enabled: boolean;
  readonly status: string;
  readonly version: string | null;
  readonly config_problem: string | null;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface ProcessStatus {
  readonly process_name: string;
  readonly status: string;
  readonly held?: { readonly reason: string } | null;
  readonly health_status: string | null;
  readonly health_reason: string | null;
  readonly restart?: RestartReport;
}

interface RestartReport {
  readonly restart_attempts: number;
  readonly disabled: boolean;
  readonly exit_code: number | null;
  readonly last_failure_reason: string | null;
  readonly last_exit_reason: string | null;
  readonly last_exit_time: number | null;
  readonly ready_at: number | null;
}

export interface LogPage {
  readonly size: number;
  readonly cursor: number;
  readonly chunk: string;
  /** Lines of the file that was rotated since, which come before `chunk`. */
  readonly rest?: string;
  readonly reset: boolean;
  readonly file_id: string | null;
}

interface Space {
  readonly total: number | null;
  readonly used: number | null;
  readonly percent: number | null;
}

export interface Sample {
  readonly timestamp: number;
  readonly system: {
    readonly cpu_percent: number | null;
    readonly mem: Space;
    readonly filesystems: readonly (Space & { readonly path: string })[];
    readonly disk_io: { readonly read_bytes: number | null; readonly write_bytes: number | null };
    readonly net_io: { readonly sent_bytes: number | null; readonly recv_bytes: number | null };
  };
  readonly dumb_managed: readonly {
    readonly name: string;
    readonly pid: number;
    readonly cpu_percent: number | null;
    readonly rss: number;
    readonly start_time: number;
  }[];
}

/** Parallel lists: one value of each curve for each time. */
export interface ChartAnswer {
  readonly timestamps: readonly number[];
  readonly series: Readonly<Record<string, readonly (number | null)[] | object>> | null;
  readonly bucket_seconds: number | null;
}

export interface GraphAnswer {
  readonly edges: readonly { readonly source: string; readonly target: string; readonly classification: string }[];
}

export interface PluginEntry {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly version: string | null;
  readonly loadMs: number | null;
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly errors: Readonly<Record<string, number>>;
}

/** Values of options by their names. */
export type Options = Readonly<Record<string, unknown>>;

type Descriptions = Readonly<Record<string, string>>;

export interface CoreService {
  readonly name: string;
  readonly key: string;
  readonly description: string;
  readonly debrid_providers: readonly string[];
  readonly supports_instances: boolean;
  /** Options by the keys of the service and of the services that it needs. */
  readonly service_options: Readonly<Record<string, Options>>;
  readonly service_option_descriptions: Readonly<Record<string, Descriptions>>;
}

export interface OptionalService {
  readonly name: string;
  readonly key: string;
  readonly service_options: Options;
  readonly service_option_descriptions: Descriptions;
}

export interface AuthStatus {
  readonly enabled: boolean;
  readonly has_users: boolean;
  readonly setup_skipped: boolean;
}
