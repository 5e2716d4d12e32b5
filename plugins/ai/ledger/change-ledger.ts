// The ledger of changes: what was changed, started and stopped through this host, so that a diagnosis can tell what
// came before a fault. The ledger never hinders a change: an event that cannot be written is left out.
import type { Stats } from 'node:fs';
import path from 'node:path';
import type { Database, Host } from '#core';
import { endedOrLate } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { declareHostState } from '#kit/host-state';
import { PrivateDirectory } from '#kit/private-directory';
import { provenNowMs } from '#kit/proven-time';
import { utcTime } from '#kit/utc-time';
import type * as Statements from './ledger-statements.ts';
import type { LedgerRow } from './ledger-statements.ts';

type LedgerEventType =
  | 'config_change'
  | 'service_start'
  | 'service_stop'
  | 'service_restart'
  | 'service_reset'
  | 'service_removed'
  | 'update_install';

export interface LedgerEvent {
  readonly type: LedgerEventType;
  /** What caused the event, for example `dumb_config` or `operator_action`. */
  readonly source: string;
  /** null for an event that concerns no single process. */
  readonly processName: string | null;
  /** Whether a user who was logged in caused the event. */
  readonly isAuthenticated: boolean;
  readonly summary: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An event as a bundle holds it. */
export interface LedgerEntry {
  readonly id: number;
  readonly at: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly process_name: string | null;
  readonly event_type: string;
  readonly source: string;
  readonly actor: string | null;
  readonly summary: string;
  readonly details: unknown;
}

export interface LedgerQuery {
  /** Events of this process, and those that concern no single process. Default: all events. */
  readonly processName?: string;
  readonly fromMs?: number;
  readonly beforeMs?: number;
  readonly type?: LedgerEventType;
  /** At most 1,000. Default 200. */
  readonly limit?: number;
}

const DIRECTORY = 'ai-diagnostics';
const FILE = 'events.sqlite';
const BUSY_TIMEOUT_MS = 2_000;
const READ_MS = 5_000;
const FINISH_MS = 2_000;
const PRUNE_MS = 3_600_000;
const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
const MS_PER_S = 1_000;
/** How many events may wait for the thread; further ones are left out. */
const MAX_WAITING = 1_000;

export class ChangeLedger {
  readonly #host: Host;
  readonly #database: Database<typeof Statements>;
  #place: Promise<Stats> | undefined;
  readonly #writes = new Set<Promise<void>>();
  /** Events that failed to be written since the last one that was written. */
  #missing = 0;
  #fault: string | null = null;

  constructor(host: Host) {
    declareHostState(DIRECTORY);
    this.#host = host;
    this.#database = host.database<typeof Statements>('events', {
      statements: 'ledger/ledger-statements',
      file: path.join(host.paths.configDir, DIRECTORY, FILE),
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      onCorrupt: 'replace',
    });
    host.every(PRUNE_MS, () => this.#prune());
  }

  /** Why the last event could not be written; null when it was written. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Resolves when the event is written or left out; never rejects. */
  async record(event: LedgerEvent): Promise<void> {
    if (this.#writes.size >= MAX_WAITING) return;
    const write = this.#write(event);
    this.#writes.add(write);
    await write;
    this.#writes.delete(write);
  }

  /** Waits for recorded events before the database is closed, but not for a disk that does not answer. */
  async finish(): Promise<void> {
    await endedOrLate(Promise.all(this.#writes), FINISH_MS);
  }

  async #write(event: LedgerEvent): Promise<void> {
    try {
      const { rowOf } = await import('./ledger-row.ts');
      await this.#ready();
      await this.#database.call('add', rowOf(event, Date.now()));
      if (this.#missing > 0) this.#host.log.info(`changes are kept for diagnoses again, without ${this.#missing}`);
      this.#missing = 0;
      this.#fault = null;
    } catch (error) {
      this.#tell(error);
    }
  }

  /** Warns once for a series of failures. */
  #tell(error: unknown): void {
    const { log, signal } = this.#host;
    this.#missing += 1;
    this.#fault = errorText(error);
    if (this.#missing > 1 || signal.aborted) log.debug('a change is not in the ledger', error);
    else log.warn('changes are not kept for diagnoses until they can be written', error);
  }

  /** The newest first; empty when the ledger cannot be read. */
  async list(query: LedgerQuery = {}): Promise<LedgerEntry[]> {
    const { processName = null, fromMs = 0, beforeMs, type = null, limit = DEFAULT_LIMIT } = query;
    try {
      await this.#ready();
      const rows = await this.#database.call(
        'list',
        {
          processName,
          from: fromMs / MS_PER_S,
          before: beforeMs === undefined ? Number.MAX_SAFE_INTEGER : beforeMs / MS_PER_S,
          limit: Math.min(limit, MAX_LIMIT),
          eventType: type,
        },
        { timeoutMs: READ_MS },
      );
      return rows.map(entryOf);
    } catch (error) {
      this.#host.log.debug('the ledger of changes cannot be read', error);
      return [];
    }
  }

  /** Makes the directory and the file, once, with private modes. */
  #ready(): Promise<Stats> {
    this.#place ??= this.#make().catch((error: unknown) => {
      this.#place = undefined;
      throw error;
    });
    return this.#place;
  }

  async #make(): Promise<Stats> {
    const directory = await PrivateDirectory.open(this.#host.paths.configDir, [DIRECTORY]);
    try {
      return await directory.ensureFile(FILE);
    } finally {
      await directory.close();
    }
  }

  async #prune(): Promise<void> {
    if (this.#place === undefined) return;
    await this.#database.call('prune', { now: provenNowMs() / MS_PER_S }).catch((error: unknown) => {
      this.#host.log.debug('old changes stay in the ledger', error);
    });
  }
}

function entryOf({ id, at, process_name, event_type, source, actor, summary, details_json }: LedgerRow): LedgerEntry {
  return {
    id,
    at: utcTime(at * MS_PER_S),
    timestamp: at,
    process_name,
    event_type,
    source,
    actor,
    summary,
    details: parsed(details_json),
  };
}

/** An empty object when the text is not JSON, because another program may have written the row. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
