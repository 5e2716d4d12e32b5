// Installations that are under way, by what they install. All who need the same one share it; it ends when nobody needs
// it any more.
import { Problem } from '#core';
import { orAborted } from '#kit/abort';

interface InstallJob {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  readonly processNames: Set<string>;
}

export interface InstallRun {
  readonly signal: AbortSignal;
  /** Of those who need it at present. */
  readonly processNames: ReadonlySet<string>;
}

export class InstallJobs {
  readonly #jobs = new Map<string, InstallJob>();

  /**
   * Resolves with the job, which `work` is if there is none. Rejects when `signal` fires; the job continues for others.
   */
  async join(
    key: string,
    processName: string,
    signal: AbortSignal,
    work: (run: InstallRun) => Promise<void>,
  ): Promise<void> {
    const job = this.#jobs.get(key) ?? this.#begin(key, work);
    job.processNames.add(processName);
    try {
      await orAborted(() => job.done, signal);
    } finally {
      this.leave(processName);
    }
  }

  /** Whoever waits for it on behalf of this process needs it no more. */
  leave(processName: string): void {
    for (const [key, { processNames, abort }] of this.#jobs) {
      if (!processNames.delete(processName) || processNames.size > 0) continue;
      // Whoever needs it from now on begins anew.
      this.#jobs.delete(key);
      abort.abort(new Problem(409, 'nobody needs it any more; start it again'));
    }
  }

  #begin(key: string, work: (run: InstallRun) => Promise<void>): InstallJob {
    const abort = new AbortController();
    const processNames = new Set<string>();
    const done = Promise.resolve()
      .then(() => work({ signal: abort.signal, processNames }))
      .finally(() => {
        if (this.#jobs.get(key) === job) this.#jobs.delete(key);
      });
    // Each who waits is told; with nobody left, nobody is to be.
    done.catch(() => undefined);
    const job: InstallJob = { done, abort, processNames };
    this.#jobs.set(key, job);
    return job;
  }
}
