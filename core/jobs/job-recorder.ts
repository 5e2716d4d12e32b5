// Writes the records of jobs to disk. A failure is logged once, and what could not be written is tried again.
import type { Owner } from '../kit/owner.ts';
import type { JobEntry } from './job-entry.ts';
import { jsonOf } from './job-input.ts';
import { type JobRecords, RESULT_BYTES } from './records.ts';

const RETRY_MS = 2_000;

export interface RecorderOptions {
  readonly owner: Owner;
  /** The kind of the jobs. */
  readonly name: string;
  /** null when jobs are not recorded on disk. */
  readonly records: JobRecords | null;
  /** Whether a job with this id is still kept; records of other jobs are not needed any more. */
  readonly isKept: (id: string) => boolean;
}

export class JobRecorder {
  readonly #options: RecorderOptions;
  /** Jobs whose latest state or result is not on disk. */
  readonly #unwritten = new Set<JobEntry>();
  #retrying: NodeJS.Timeout | undefined;
  /** Whether the present failure was logged. A full disk is logged once, not with the progress of each job. */
  #toldUnwritten = false;
  #closed = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Never throws: the job continues, because its work may have begun. */
  async write(entry: JobEntry, options?: { readonly durable: boolean }): Promise<void> {
    const { records, owner, name } = this.#options;
    if (records === null) return;
    const isWritten = await this.#attempt(() => records.write(() => entry.job, options));
    if (isWritten && (entry.result === undefined || (await this.writeResult(entry)))) this.#unwritten.delete(entry);
    else this.#retryLater(entry);
    if (this.#unwritten.size > 0 || !this.#toldUnwritten) return;
    this.#toldUnwritten = false;
    owner.log.info(`records of the jobs of ${name} are written again`);
  }

  /** Writes the result of a job, which stays in memory until it is on disk. Returns whether it was written. */
  async writeResult(entry: JobEntry): Promise<boolean> {
    const { records, name } = this.#options;
    const { result, job } = entry;
    if (records === null || result === undefined) return false;
    const isWritten = await this.#attempt(async () =>
      records.writeResult(job.id, jsonOf(result.value, RESULT_BYTES, `the result of ${name}`)),
    );
    if (isWritten) entry.result = undefined;
    return isWritten;
  }

  /** Removes the records of a job that is no longer kept. */
  remove(entry: JobEntry): void {
    const { records } = this.#options;
    this.#unwritten.delete(entry);
    if (records !== null) void this.#attempt(() => records.remove(entry.job.id));
  }

  /** Sets the records in these files aside, and removes what interrupted writes and removed jobs left. */
  async tidy(unreadable: Iterable<string>): Promise<void> {
    const { records, isKept } = this.#options;
    if (records !== null) await this.#attempt(() => records.tidy(isKept, unreadable));
  }

  /** Tries once more to write what could not be written. */
  async writeRest(): Promise<void> {
    for (const entry of [...this.#unwritten]) if (!this.#closed) await this.write(entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retrying);
    await this.#options.records?.close();
  }

  #retryLater(entry: JobEntry): void {
    if (this.#closed || !this.#options.isKept(entry.job.id)) return;
    this.#unwritten.add(entry);
    this.#retrying ??= setTimeout(() => {
      this.#retrying = undefined;
      void this.writeRest();
    }, RETRY_MS).unref();
  }

  /** Calls `write`. Logs a failure, and returns false for it. */
  async #attempt(write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const { owner, name } = this.#options;
      if (!this.#toldUnwritten) owner.log.error(`records of the jobs of ${name} cannot be written`, error);
      this.#toldUnwritten = true;
      return false;
    }
  }
}
