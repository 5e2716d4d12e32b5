// A job that is under way. Clients see every change at once; what the next step relies on is on disk before it begins.
import type { Host } from '#core';
import { type Checkpoint, type JobRecord, type JobWork, type MigrationJob, unixSeconds } from './job.ts';
import type { JobFiles } from './job-files.ts';
import { tellOfEnd } from './migration-events.ts';

const MAX_EVENTS = 100;
const MS_PER_S = 1_000;

interface Telling {
  readonly stage: string;
  readonly percent: number;
  readonly message: string;
  readonly details: Record<string, unknown> | undefined;
  readonly isEvent: boolean;
}

export class LiveJob {
  readonly #files: JobFiles;
  readonly #host: Host;
  #record: JobRecord;
  #writes: Promise<unknown> = Promise.resolve();
  #isWriteDue = false;
  #stage: string | undefined;
  #stageStartedMs = performance.now();
  readonly #timings: Record<string, number> = {};

  constructor(record: JobRecord, files: JobFiles, host: Host) {
    this.#record = record;
    this.#files = files;
    this.#host = host;
  }

  get job(): MigrationJob {
    return this.#record.job;
  }

  get work(): JobWork {
    return this.#record.work;
  }

  /** Seconds that each stage has taken so far. */
  get timings(): Record<string, number> {
    this.#clock(this.#stage);
    return { ...this.#timings };
  }

  /** Resolves when the change is on disk. Rejects when it cannot be written. */
  async change(job: Partial<MigrationJob>, work: Partial<JobWork> = {}): Promise<void> {
    this.#show({ ...job, updated_at: unixSeconds() }, work);
    await this.#write();
  }

  /** Ends the job. An end that cannot be written is an end all the same; its record is written with the next one. */
  async end(
    status: MigrationJob['status'],
    job: Partial<MigrationJob> = {},
    work: Partial<JobWork> = {},
  ): Promise<void> {
    await this.change({ status, finished_at: unixSeconds(), ...job }, work).catch((error: unknown) =>
      this.#host.log.error(`the end of the migration of ${this.job.process_name} is not on disk yet`, error),
    );
    tellOfEnd(this.#host, this.job);
  }

  /** Changes the part that clients do not see, and leaves `updated_at` as it was. */
  async note(work: Partial<JobWork>): Promise<void> {
    this.#show({}, work);
    await this.#write();
  }

  /** Records that the work of this step is done. */
  async reach(checkpoint: Checkpoint, job: Partial<MigrationJob> = {}, work: Partial<JobWork> = {}): Promise<void> {
    await this.change({ rollback_checkpoint: checkpoint, ...job }, work);
  }

  /** Shows the progress and keeps it as an event. The percentage never falls. The write to disk is not awaited. */
  tell(stage: string, percent: number, message: string, details?: Record<string, unknown>): void {
    this.#tell({ stage, percent, message, details, isEvent: true });
  }

  /** Like `tell`, but keeps no event. */
  refresh(stage: string, percent: number, message: string, details?: Record<string, unknown>): void {
    this.#tell({ stage, percent, message, details, isEvent: false });
  }

  #tell({ stage, percent, message, details, isEvent }: Telling): void {
    if (stage !== this.#stage) this.#clock(stage);
    const at = unixSeconds();
    const least = this.job.progress?.percent ?? 0;
    const entry = {
      at,
      stage,
      message,
      percent: Math.max(least, Math.round(percent * 10) / 10),
      ...(details === undefined ? {} : { details }),
    };
    const events = isEvent ? [...this.job.events, entry].slice(-MAX_EVENTS) : this.job.events;
    this.#show({ progress: entry, events, updated_at: at });
    if (this.#isWriteDue) return;
    this.#isWriteDue = true;
    this.#write().catch((error: unknown) =>
      this.#host.log.warn('the progress of a migration could not be kept', error),
    );
  }

  #show(job: Partial<MigrationJob>, work: Partial<JobWork> = {}): void {
    this.#record = { job: { ...this.job, ...job }, work: { ...this.work, ...work } };
    this.#files.show(this.#record);
  }

  /** Writes one after the other; each write holds every change made before it began. */
  #write(): Promise<void> {
    const written = this.#writes.then(() => {
      this.#isWriteDue = false;
      return this.#files.save(this.#record);
    });
    this.#writes = written.catch(() => undefined);
    return written;
  }

  #clock(stage: string | undefined): void {
    const now = performance.now();
    if (this.#stage !== undefined) {
      const seconds = (this.#timings[this.#stage] ?? 0) + (now - this.#stageStartedMs) / MS_PER_S;
      this.#timings[this.#stage] = Math.round(seconds * 10) / 10;
    }
    this.#stage = stage;
    this.#stageStartedMs = now;
  }
}
