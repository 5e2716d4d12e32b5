// Running installations, by what they install. Processes that need the same program share one installation, which is
// aborted when none of them needs it any more.
import { Problem } from '#core';
import { orAborted } from '#kit/abort';

interface InstallJob {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  readonly processNames: Set<string>;
  /** A process may wait more than once, and needs the job until its last wait is over. */
  readonly waits: Set<{ readonly processName: string }>;
}

export interface InstallRun {
  readonly signal: AbortSignal;
  /** The processes that need it at present. */
  readonly processNames: ReadonlySet<string>;
}

export class InstallJobs {
  readonly #jobs = new Map<string, InstallJob>();

  /**
   * Waits for the job of this key; without one, starts `work` as that job. Rejects when `signal` fires; the job then
   * continues for other processes.
   */
  async join(
    key: string,
    processName: string,
    signal: AbortSignal,
    work: (run: InstallRun) => Promise<void>,
  ): Promise<void> {
    const job = this.#jobs.get(key) ?? this.#begin(key, work);
    const wait = { processName };
    job.processNames.add(processName);
    job.waits.add(wait);
    try {
      await orAborted(() => job.done, signal);
    } finally {
      job.waits.delete(wait);
      const isNeeded = [...job.waits].some(other => other.processName === processName);
      // Not any other job: the process may have left this one before, and may wait for a new one by now.
      if (!isNeeded) this.#leave(key, job, processName);
    }
  }

  /** The process needs no job any more. A job that no process needs is aborted. */
  leave(processName: string): void {
    for (const [key, job] of this.#jobs) this.#leave(key, job, processName);
  }

  #leave(key: string, job: InstallJob, processName: string): void {
    const { processNames, waits, abort } = job;
    for (const wait of waits) if (wait.processName === processName) waits.delete(wait);
    if (!processNames.delete(processName) || processNames.size > 0) return;
    // A process that needs it from now on starts a new job.
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
    abort.abort(new Problem(409, 'nobody needs it any more; start it again'));
  }

  #begin(key: string, work: (run: InstallRun) => Promise<void>): InstallJob {
    const abort = new AbortController();
    const processNames = new Set<string>();
    const done = Promise.resolve()
      .then(() => work({ signal: abort.signal, processNames }))
      .finally(() => {
        if (this.#jobs.get(key) === job) this.#jobs.delete(key);
      });
    // All callers that wait get the rejection; without a caller it must not count as unhandled.
    done.catch(() => undefined);
    const job: InstallJob = { done, abort, processNames, waits: new Set() };
    this.#jobs.set(key, job);
    return job;
  }
}
