// Services that an update has stopped and that could not be started again because the machine lacked resources. Their
// start is tried again at intervals, unless the service is started or stopped otherwise meanwhile.
import { type Host, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import type {} from '../process/contract.ts';
import type { UpdateRecords } from './update-records.ts';

const LOOK_MS = 15_000;
/** Statuses of starts that failed only because of the present state of the machine. */
const PASSING = [503, 507];

interface Owed {
  /** The process that was updated. */
  readonly updated: string;
  /** The messages about that update, while the start is outstanding and afterwards. */
  readonly told: { readonly meanwhile: string; readonly afterwards: string };
}

export class OwedStarts {
  readonly #host: Host;
  readonly #records: UpdateRecords;
  readonly #owed = new Map<string, Owed>();

  constructor(host: Host, records: UpdateRecords) {
    this.#host = host;
    this.#records = records;
    host.every(host.paced(LOOK_MS), () => this.#look());
  }

  /** Whether a start that failed with this error is tried again. */
  isPassing(error: unknown): boolean {
    return error instanceof Problem && PASSING.includes(error.status) && this.#host.stopping === null;
  }

  owe(processNames: readonly string[], owed: Owed): void {
    for (const processName of processNames) this.#owed.set(processName, owed);
  }

  async #look(): Promise<void> {
    for (const [processName, owed] of this.#owed) {
      const supervisor = this.#host.find('process.supervisor');
      const process = supervisor?.get(processName);
      if (supervisor === undefined || process?.held != null) continue;
      let fault = '';
      if (process?.status === 'stopped' && !process.stoppedByUser) {
        try {
          await supervisor.start(processName, 'install');
          this.#host.log.info(`${processName} is started again, which its update could not do`);
        } catch (error) {
          if (this.isPassing(error)) continue;
          fault = `, but not ready: ${errorText(error)}`;
        }
      }
      this.#owed.delete(processName);
      await this.#settle(owed, fault);
    }
  }

  /** Changes the message about the update, which must not announce another try any more. */
  async #settle(owed: Owed, fault: string): Promise<void> {
    if (fault === '' && [...this.#owed.values()].includes(owed)) return;
    const { updated, told } = owed;
    const result = this.#records.result(updated);
    if (result?.message === told.meanwhile)
      await this.#records.setResult(updated, { ...result, message: redact(told.afterwards + fault) });
  }
}
