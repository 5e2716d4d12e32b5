// The database of the queue. While it cannot be used, the fault is logged once, and opening is retried at intervals.
import { randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, type Host, Problem, type StatementArgs, type StatementName, type StatementResult } from '#core';
import { errorText } from '#kit/error-text';
import type * as Statements from './queue-statements.ts';
import type { RetryPolicy } from './retry.ts';

/** How long a statement waits for another program's lock. A request waits at most twice: behind a background call. */
const BUSY_TIMEOUT_MS = 1_000;
const REQUEST_MS = 10_000;
/** Enough for the longest history of the longest texts. */
const MAX_BYTES = 48 * 1_024 * 1_024;
const MEND_MS = 5_000;
const FIRST_TRIES = 4;
const FIRST_PAUSE_MS = 250;
const MS_PER_S = 1_000;

type Module = typeof Statements;

export interface StoreUser {
  policy(): RetryPolicy;
  /** Ids of the deliveries that are being made. */
  inFlight(): readonly string[];
  /** Called each time the database becomes usable or unusable. */
  changed(): void;
}

export class QueueStore {
  /** Distinguishes the claims of this run of the host from those of earlier ones. */
  readonly bootId = randomUUID();
  readonly #host: Host;
  readonly #file: string;
  readonly #database: Database<Module>;
  readonly #user: StoreUser;
  #isOpen = false;
  #fault: string | null = null;
  #opening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(host: Host, user: StoreUser) {
    this.#host = host;
    this.#user = user;
    this.#file = path.join(host.paths.configDir, 'notifications', 'notifications.sqlite');
    this.#database = host.database<Module>('notifications', {
      statements: 'queue-statements',
      file: this.#file,
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
  }

  /** Whether background work can write at present. */
  get isUsable(): boolean {
    return this.#isOpen && this.#fault === null;
  }

  /** Why the database cannot be used; null while it can, and before it was tried. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Whether the database was tried and cannot be used. */
  get isDegraded(): boolean {
    return this.#fault !== null;
  }

  /** Opens the database. A missing file is only created when it `isNeeded`. Never rejects. */
  async start(isNeeded: boolean): Promise<void> {
    if (!isNeeded && !(await this.exists())) return;
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#open();
        return;
      } catch (error) {
        if (!isNeeded || tries === FIRST_TRIES) return this.#degrade(error);
        await delay(this.#host.paced(FIRST_PAUSE_MS * 2 ** (tries - 1)));
      }
    }
  }

  async exists(): Promise<boolean> {
    return access(this.#file).then(
      () => true,
      () => false,
    );
  }

  /** Runs a statement for background work. Rejects at once while the database cannot be used. */
  async write<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
  ): Promise<StatementResult<Module, Name>> {
    if (!this.isUsable) throw new Error(this.#fault ?? 'the database is not open yet');
    try {
      return await this.#database.call(name, args);
    } catch (error) {
      if (error instanceof Problem) this.#degrade(error);
      throw error;
    }
  }

  /** Runs a statement for a request, after one try to open an unusable database. Throws a Problem 503 that says why. */
  async ask<Name extends StatementName<Module>>(
    name: Name,
    args: StatementArgs<Module, Name>,
  ): Promise<StatementResult<Module, Name>> {
    try {
      if (!this.isUsable) await this.#open();
      return await this.#database.call(name, args, { timeoutMs: REQUEST_MS });
    } catch (cause) {
      if (!(cause instanceof Problem)) throw cause;
      this.#degrade(cause);
      const reason = errorText(cause).trimEnd().replace(/[.;]$/, '');
      throw new Problem(
        503,
        `Notification storage is temporarily unavailable: ${reason}. The service will retry automatically.`,
        { cause },
      );
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#tryOpen().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #tryOpen(): Promise<void> {
    const { maxAttempts, baseSec } = this.#user.policy();
    const args = {
      bootId: this.bootId,
      now: Date.now() / MS_PER_S,
      inFlight: this.#user.inFlight(),
      maxAttempts,
      baseSec,
    };
    await this.#database.call('recover', args, { timeoutMs: REQUEST_MS }).catch(cause => {
      if (cause instanceof Problem) throw cause;
      const detail = `The database ${this.#file} is none of this program's: move it away, and a new one is made`;
      throw new Problem(503, `${detail} (${errorText(cause)})`, { cause });
    });
    if (this.#fault !== null) this.#host.log.info('the storage of notifications can be used again');
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#fault = null;
    this.#isOpen = true;
    this.#user.changed();
  }

  #degrade(error: unknown): void {
    if (this.#host.signal.aborted) return;
    const reason = errorText(error);
    const isNew = this.#fault === null;
    this.#fault = reason;
    if (isNew) {
      this.#host.log.warn(`the storage of notifications cannot be used, what happens is kept in memory: ${reason}`);
      this.#user.changed();
    }
    this.#timer ??= setTimeout(() => void this.#mend(), this.#host.paced(MEND_MS)).unref();
  }

  async #mend(): Promise<void> {
    this.#timer = undefined;
    await this.#open().catch(error => this.#degrade(error));
  }
}
