// The installations of updates, which run one at a time. A request for the one that runs shares it; a request for
// another one is refused.
import { type Host, type Jobs, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { Installation, type InstallOrder, orderSchema } from './installation.ts';
import { OwedStarts } from './owed-starts.ts';
import type { UpdateRecords } from './update-records.ts';

const KEPT = 20;
/** Longer than any build. */
const LIMIT_MS = 6 * 3_600_000;

export interface ActiveInstall {
  readonly processName: string;
  /** A few words, such as `prepares v2.1.0`. */
  readonly step: string;
}

export class UpdateInstalls {
  readonly #host: Host;
  readonly #jobs: Jobs<typeof orderSchema, null>;
  #revision = 0;

  private constructor(host: Host, jobs: Jobs<typeof orderSchema, null>) {
    this.#host = host;
    this.#jobs = jobs;
    jobs.watch(() => {
      this.#revision += 1;
    });
  }

  static async open(host: Host, records: UpdateRecords): Promise<UpdateInstalls> {
    const owed = new OwedStarts(host, records);
    const jobs = await host.jobs('install', {
      input: orderSchema,
      run: async run => {
        await new Installation(host, { records, owed }, run).run();
        return null;
      },
      keep: { records: KEPT },
      resume: true,
      deadlineMs: LIMIT_MS,
    });
    return new UpdateInstalls(host, jobs);
  }

  /** A number that changes with every step of an installation. */
  get revision(): number {
    return this.#revision;
  }

  /** The installation of this process that waits or runs. */
  active(processName: string): ActiveInstall | undefined {
    const [job] = this.#jobs.list({ key: processName, active: true });
    if (job === undefined) return undefined;
    const progress = this.#host.find('installs')?.progress(processName)?.text ?? job.progress?.text;
    return { processName, step: progress ?? 'waits for its turn' };
  }

  /** Resolves with true when the outcome is recorded, at once with false while another installation waits or runs. */
  async request(order: InstallOrder): Promise<boolean> {
    const [other] = this.#jobs.list({ active: true });
    if (other !== undefined && !deepEqual(other.input, order)) return false;
    try {
      await this.#jobs.run(order.process_name, order, { queue: false });
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status === 409) return false;
      throw error;
    }
  }

  /** Waits for earlier installations, then installs. Resolves when the outcome is recorded. */
  async queue(order: InstallOrder): Promise<void> {
    await this.#jobs.run(order.process_name, order);
  }
}
