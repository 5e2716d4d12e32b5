// All services as the page knows them: their configuration, state and usage.
import type { Api } from './api.ts';
import { Listeners } from './listeners.ts';
import type { ProcessEntry, ProcessStatus, Sample } from './wire.ts';

export interface Service {
  readonly name: string;
  readonly label: string;
  readonly enabled: boolean;
  /** False for the host itself, which is listed but has no command. */
  readonly hasProgram: boolean;
  readonly version: string | null;
  readonly configProblem: string | null;
  readonly status: string;
  /** The host's word for the health; null when it is not probed. */
  readonly health: string | null;
  /** Why the service is in its state, if there is something to say. */
  readonly reason: string | null;
  /** Why the service cannot be started or stopped at present; null when it can. */
  readonly heldBecause: string | null;
  /** Whether the service is down as intended: by a user, or because its work is done. */
  readonly isDone: boolean;
  readonly restarts: number;
  readonly lastExit: string | null;
  readonly lastExitAt: number | null;
  readonly readyAt: number | null;
  readonly cpuPercent: number | null;
  readonly rssBytes: number | null;
  readonly pid: number | null;
}

const READ_AGAIN_MS = 30_000;

export class Services {
  readonly #api: Api;
  readonly changed = new Listeners();
  #entries: readonly ProcessEntry[] = [];
  #statuses = new Map<string, ProcessStatus>();
  #usage = new Map<string, Sample['dumb_managed'][number]>();
  #list: readonly Service[] = [];
  #isReading = false;
  #readAtMs = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  /** In the order of the configuration. */
  get list(): readonly Service[] {
    return this.#list;
  }

  get(name: string): Service | undefined {
    return this.#list.find(service => service.name === name);
  }

  /** The name of the host itself, whose log holds the output of all services. */
  get hostName(): string {
    return this.#list.find(({ hasProgram }) => !hasProgram)?.name ?? '';
  }

  /** Reads the configured services. Rejects with an ApiError. */
  async read(): Promise<void> {
    const { processes } = await this.#api.get<{ processes: readonly ProcessEntry[] }>('process/processes');
    this.#readAtMs = Date.now();
    this.#entries = processes;
    this.#build();
  }

  /** Takes a message of the status stream, which holds every process. */
  takeStatuses(statuses: readonly ProcessStatus[]): void {
    const before = this.#statuses;
    this.#statuses = new Map(statuses.map(status => [status.process_name, status]));
    const isSame =
      before.size === statuses.length &&
      statuses.every(({ process_name: name, status }) => before.get(name)?.status === status);
    // A start or an edit of the file may have changed the configuration.
    if (!isSame || Date.now() > this.#readAtMs + READ_AGAIN_MS) void this.#readAgain();
    this.#build();
  }

  takeUsage(sample: Sample): void {
    this.#usage = new Map(sample.dumb_managed.map(usage => [usage.name, usage]));
    this.#build();
  }

  /** Reads the configuration again. After a failure, one of the next messages of the stream causes another try. */
  async #readAgain(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    await this.read().catch(() => undefined);
    this.#isReading = false;
  }

  #build(): void {
    this.#list = this.#entries.map(entry => this.#service(entry));
    this.changed.tell();
  }

  #service(entry: ProcessEntry): Service {
    const { process_name: name, config, config_problem: configProblem } = entry;
    const status = this.#statuses.get(name);
    const usage = this.#usage.get(name);
    const restart = status?.restart;
    const state = status?.status ?? entry.status;
    const isUp = state === 'running';
    return {
      name,
      label: entry.name,
      enabled: entry.enabled,
      hasProgram: config.command !== undefined,
      version: entry.version,
      configProblem,
      status: state,
      health: isUp ? (status?.health_status ?? null) : null,
      reason: reasonOf(status, isUp),
      heldBecause: status?.held?.reason ?? null,
      isDone: restart?.disabled === true || restart?.exit_code === 0,
      restarts: restart?.restart_attempts ?? 0,
      lastExit: restart?.last_exit_reason ?? null,
      lastExitAt: restart?.last_exit_time ?? null,
      readyAt: restart?.ready_at ?? null,
      cpuPercent: isUp ? (usage?.cpu_percent ?? null) : null,
      rssBytes: isUp ? (usage?.rss ?? null) : null,
      pid: isUp ? (usage?.pid ?? null) : null,
    };
  }
}

function reasonOf(status: ProcessStatus | undefined, isUp: boolean): string | null {
  if (status === undefined) return null;
  if (isUp) return status.health_status === 'healthy' ? null : status.health_reason;
  return status.restart?.last_failure_reason ?? status.restart?.last_exit_reason ?? null;
}
