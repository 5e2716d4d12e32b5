// The files of jobs: one for each job, replaced as a whole by every save.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '#core';
import { reasonText } from '#kit/error-text';
import { isTemporary, type PrivateDirectory } from '#kit/private-directory';
import { isActive, type JobRecord, recordSchema } from './job.ts';
import type { Places } from './places.ts';

const MAX_BYTES = 2 * 1024 * 1024;
const KEPT = 50;
const NAME = /^([0-9a-f]{32})\.json$/;

export class JobFiles {
  readonly #places: Places;
  readonly #log: Logger;
  readonly #records = new Map<string, JobRecord>();
  /** Ids of jobs whose last save has failed. */
  readonly #missed = new Set<string>();
  #lastSequence = 0;
  #isClosed = false;

  constructor(places: Places, log: Logger) {
    this.#places = places;
    this.#log = log;
  }

  /**
   * Reads the jobs of earlier hosts, and ignores files that are not jobs. Removes the temporary files of a host that was
   * killed. Rejects when other users may write to the directory.
   */
  async load(): Promise<void> {
    const directory = await this.#places.jobs({ create: false });
    if (directory === null) return;
    try {
      for (const name of await directory.names()) {
        if (isTemporary(name)) await this.#removeLeft(directory, name);
        const [, id] = NAME.exec(name) ?? [];
        const record = id === undefined ? undefined : await readRecord(directory, name);
        if (record !== undefined && record.job.job_id === id) this.#add(record);
        else if (id !== undefined)
          this.#log.warn(`${path.join(directory.path, name)} is no job of a migration; it is ignored`);
      }
    } finally {
      await directory.close();
    }
  }

  async #removeLeft(directory: PrivateDirectory, name: string): Promise<void> {
    await directory
      .remove(name)
      .catch(error => this.#log.warn(`${path.join(directory.path, name)}, which is of no use, stays`, error));
  }

  /** All records, the one changed last first. */
  list(processName?: string): JobRecord[] {
    const found = [...this.#records.values()].filter(
      ({ job }) => processName === undefined || job.process_name === processName,
    );
    return found.sort(
      (a, b) =>
        this.#sequenceOf(b) - this.#sequenceOf(a) ||
        b.job.updated_at - a.job.updated_at ||
        b.job.created_at - a.job.created_at,
    );
  }

  get(jobId: string): JobRecord | undefined {
    return this.#records.get(jobId.toLowerCase());
  }

  /** Makes the record visible at once; a later `save` writes it to disk. */
  show(record: JobRecord): void {
    const { job_id: id, updated_at: at } = record.job;
    // What clients do not see leaves the time as it is, and the order too.
    const isChange = this.#records.get(id)?.job.updated_at !== at;
    this.#add({ ...record, sequence: isChange ? this.#lastSequence + 1 : this.#sequenceOf(record) });
  }

  /**
   * Makes the record visible at once. Resolves once it survives a loss of power; rejects when it cannot be written. Jobs
   * of the process whose last save has failed are written first: the next host would take one that has ended for one
   * that was interrupted, and undo what came after it.
   */
  async save(record: JobRecord): Promise<void> {
    this.show(record);
    const { job_id: id, process_name: processName } = record.job;
    try {
      if (this.#isClosed) throw new Error('the plugin has ended');
      const directory = await this.#places.jobs({ create: true });
      if (directory === null) throw new Error('the directory of jobs was removed meanwhile');
      try {
        for (const other of this.#missedOf(processName))
          if (other.job.job_id !== id) await this.#write(directory, other);
        await this.#write(directory, record);
        await this.#prune(directory, processName);
      } finally {
        await directory.close();
      }
    } catch (error) {
      this.#missed.add(id);
      const text = `the migration cannot be recorded below ${this.#places.root}: ${reasonText(error)}; see to its disk`;
      throw new Error(text, { cause: error });
    }
  }

  /**
   * Tries once more to write what the last saves could not; rejects when it still cannot be written. Nothing is written
   * from then on: the plugin may be loaded again, and go on with the jobs.
   */
  async close(): Promise<void> {
    try {
      for (const record of this.#missedOf()) await this.save(record);
    } finally {
      this.#isClosed = true;
    }
  }

  /** Removes the record of a job that was never on disk. */
  forget({ job }: JobRecord): void {
    this.#records.delete(job.job_id);
    this.#missed.delete(job.job_id);
  }

  #missedOf(processName?: string): JobRecord[] {
    return this.list(processName).filter(({ job }) => this.#missed.has(job.job_id));
  }

  async #write(directory: PrivateDirectory, record: JobRecord): Promise<void> {
    const stored = { ...record, sequence: this.#sequenceOf(record) };
    await directory.replace(`${record.job.job_id}.json`, `${JSON.stringify(stored)}\n`);
    this.#missed.delete(record.job.job_id);
  }

  #add(record: JobRecord): void {
    this.#records.set(record.job.job_id, record);
    this.#lastSequence = Math.max(this.#lastSequence, record.sequence ?? 0);
  }

  /** Its place by the last change. Times would misorder jobs after the clock was set back. */
  #sequenceOf({ job }: JobRecord): number {
    return this.#records.get(job.job_id)?.sequence ?? 0;
  }

  /** Keeps the newest jobs of the process, those that can be rolled back, and those that have left databases behind. */
  async #prune(directory: PrivateDirectory, processName: string): Promise<void> {
    for (const { job, work } of this.list(processName).slice(KEPT)) {
      if (isActive(job) || job.rollback_available || work.isUndoDue || work.preserved.length > 0) continue;
      await directory.remove(`${job.job_id}.json`);
      this.#records.delete(job.job_id);
    }
  }
}

/**
 * undefined for a file that another user may have made (a link, one with a second name, one of another owner), and for
 * one that is no job.
 */
async function readRecord(directory: PrivateDirectory, name: string): Promise<JobRecord | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path.join(directory.path, name), flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const entry = await handle.stat();
    const isOwn = entry.isFile() && entry.nlink === 1 && entry.uid === process.geteuid?.();
    if (!isOwn || entry.size > MAX_BYTES) return undefined;
    return recordSchema.parse(JSON.parse(await handle.readFile('utf8')));
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
