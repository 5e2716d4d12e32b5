// The health of all services' databases. Readings are taken in the background and kept, so that a request for what is
// known never waits for one.
import type { Host } from '#core';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import { logFileOf } from '#kit/service-log';
import { WorkQueue } from '#kit/work-queue';
import type {} from '../process/contract.ts';
import { type Candidate, Candidates } from './candidates.ts';
import type { DatabaseFacts, ProbeMode } from './contract.ts';
import { type LogFindings, NO_FINDINGS, SIGNALS, withLook } from './log-signals.ts';
import { FileLook } from './look.ts';
import { type Assessment, assess } from './score.ts';
import { type HealthSettings, readSettings, type ServiceSettings } from './settings.ts';

/** What the last reading of a service found. */
interface Reading {
  /** Unix seconds. */
  readonly collectedAt: number;
  readonly databases: readonly DatabaseFacts[];
  readonly log: LogFindings;
  readonly assessment: Assessment;
}

/** What is known about a candidate at the moment. */
export interface ServiceHealth {
  readonly candidate: Candidate;
  readonly settings: ServiceSettings;
  readonly isMonitored: boolean;
  readonly isStarting: boolean;
  /** undefined before the first reading with the present settings. */
  readonly reading: Reading | undefined;
}

export interface Overview {
  readonly settings: HealthSettings;
  readonly services: readonly ServiceHealth[];
}

interface Kept {
  readonly how: string;
  readonly atMs: number;
  readonly reading: Reading;
}

const MS_PER_S = 1_000;
const MAX_AT_ONCE = 4;
/** How long a request waits for new readings. */
const REQUEST_LIMIT_MS = 12_000;
/** How long a signal in a log counts. */
const SIGNAL_COUNTS_S = 3_600;
const MAX_TEXT = 240;
const MAX_DATABASES = 64;
const PATHS = ['path', 'mountPoint'];

export class Health {
  readonly look = new FileLook();
  readonly #host: Host;
  readonly #candidates: Candidates;
  readonly #queue = new WorkQueue({ concurrency: MAX_AT_ONCE });
  readonly #kept = new Map<string, Kept>();
  readonly #logs = new Map<string, LogFindings>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(host: Host) {
    this.#host = host;
    this.#candidates = new Candidates(host);
  }

  /** What is known, without new readings. `processName` limits it to one service. */
  async overview(processName?: string): Promise<Overview> {
    return this.#overviewOf(await this.#candidates.list(), processName);
  }

  /** Same as `overview`, but fast enough for a sample of metrics. */
  async sample(): Promise<Overview> {
    return this.#overviewOf(await this.#candidates.soon());
  }

  #overviewOf(candidates: readonly Candidate[], processName?: string): Overview {
    const settings = readSettings(this.#host.use('config.store').get('dumb.metrics.database_health'));
    const services = candidates
      .filter(({ service }) => processName === undefined || service.processName === processName)
      .map(candidate => this.#healthOf(candidate, settings));
    return { settings, services };
  }

  /** See `Candidates.serviceKeys`. */
  serviceKeys(): string[] {
    return this.#candidates.serviceKeys();
  }

  /** Takes the readings that are due, and returns what is known when they are done, or after 12 s. */
  async collect(processName?: string): Promise<Overview> {
    const { settings, services } = await this.overview(processName);
    const looks = Promise.all(services.map(service => this.#refresh(service, settings)));
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise(resolve => {
      timer = setTimeout(resolve, REQUEST_LIMIT_MS);
    });
    await Promise.race([looks, limit]);
    clearTimeout(timer);
    return this.overview(processName);
  }

  /** Forgets the readings of one service, or of all. */
  async invalidate(processName?: string): Promise<void> {
    for (const { service, id } of await this.#candidates.list())
      if (processName === undefined || service.processName === processName) this.#kept.delete(id);
  }

  /** Takes the readings that are due, and forgets services that are gone. */
  async keepUp(): Promise<void> {
    const { settings, services } = await this.overview();
    const ids = new Set(services.map(({ candidate }) => candidate.id));
    for (const known of [this.#kept, this.#logs]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    await Promise.all(services.map(service => this.#refresh(service, settings)));
  }

  close(): void {
    this.#queue.clear();
    this.look.close();
  }

  #healthOf(candidate: Candidate, settings: HealthSettings): ServiceHealth {
    const own = settings.of(candidate.id);
    const kept = this.#kept.get(candidate.id);
    const status = this.#host.find('process.supervisor')?.get(candidate.service.processName)?.status;
    return {
      candidate,
      settings: own,
      isMonitored: settings.enabled && own.enabled,
      isStarting: status === 'starting',
      reading: kept?.how === howOf(own) ? kept.reading : undefined,
    };
  }

  /** Takes a reading if one is due. A call while the service is being read waits for that reading. */
  #refresh({ candidate, settings, isMonitored, isStarting }: ServiceHealth, all: HealthSettings): Promise<void> {
    const kept = this.#kept.get(candidate.id);
    const isFresh =
      kept?.how === howOf(settings) && performance.now() - kept.atMs < this.#host.paced(all.intervalS * MS_PER_S);
    if (!isMonitored || isStarting || isFresh) return Promise.resolve();
    const key = `${candidate.id} ${howOf(settings)}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const run = this.#queue
      .add(async () => {
        const reading = await this.#read(candidate, settings, all);
        this.#kept.set(candidate.id, { how: howOf(settings), atMs: performance.now(), reading });
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }

  async #read(candidate: Candidate, { mode, ignoresNetwork }: ServiceSettings, { tailBytes }: HealthSettings) {
    const [databases, log] = await Promise.all([databasesOf(candidate, mode), this.#readLog(candidate, tailBytes)]);
    const collectedAt = Date.now() / MS_PER_S;
    const signals = SIGNALS.filter(signal => collectedAt - (log.lastSeen[signal] ?? 0) <= SIGNAL_COUNTS_S);
    const isBlind = candidate.groups[0]?.probe.blindIn?.includes(mode) === true;
    const assessment = assess({ databases, signals, ignoresNetwork, isBlind });
    return { collectedAt, databases, log, assessment };
  }

  async #readLog({ id, service }: Candidate, tailBytes: number): Promise<LogFindings> {
    const file = logFileOf(service.block.log_file, this.#host.paths.logDir);
    const before = this.#logs.get(id) ?? NO_FINDINGS;
    if (file === null) return before;
    const look = await this.look
      .log(service.processName, { file, known: before.position, tailBytes })
      .catch((error: unknown) => ({ path: file, error: cleanText(errorText(error)) }));
    const after = withLook(before, look, Date.now() / MS_PER_S);
    this.#logs.set(id, after);
    return after;
  }
}

/** The settings that a reading depends on, as a text. */
function howOf({ mode, ignoresNetwork }: ServiceSettings): string {
  return `${mode} ${ignoresNetwork}`;
}

async function databasesOf({ groups, service }: Candidate, mode: ProbeMode): Promise<DatabaseFacts[]> {
  const found = await Promise.all(
    groups.map(async ({ probe, stores }) => {
      try {
        return await probe.probe({ service, stores, mode });
      } catch (error) {
        return stores.map(({ role }) => ({ role, exists: null, error: errorText(error) }));
      }
    }),
  );
  return found.flat().slice(0, MAX_DATABASES).map(withCleanTexts);
}

/** The facts with every text but the paths made clean. */
function withCleanTexts(facts: DatabaseFacts): DatabaseFacts {
  return cleanValue(facts) as DatabaseFacts;
}

function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, PATHS.includes(key) ? member : cleanValue(member)]),
  );
}

/** The text on one line, shortened and without credentials. */
function cleanText(text: string): string {
  return redact(text.replaceAll(/\s+/g, ' ')).slice(0, MAX_TEXT);
}
