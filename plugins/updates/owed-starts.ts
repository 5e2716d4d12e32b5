// Services that an update has stopped and that could not be started again because the machine lacked resources. Their
// start is tried again at intervals, also by the next host, unless the service is started or stopped otherwise
// meanwhile.
import { type Host, Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { errorText } from '#kit/error-text';
import { redact } from '#kit/redact';
import type { ProcessSnapshot } from '../process/contract.ts';
import type { OwedStart, UpdateRecords } from './update-records.ts';

const LOOK_MS = 15_000;
/** Statuses of starts that failed only because of the present state of the machine. */
const PASSING = [503, 507];

export class OwedStarts {
  readonly #host: Host;
  readonly #records: UpdateRecords;

  constructor(host: Host, records: UpdateRecords) {
    this.#host = host;
    this.#records = records;
    host.every(host.paced(LOOK_MS), () => this.#look());
  }

  /** Whether a start that failed with this error is tried again. */
  isPassing(error: unknown): boolean {
    return error instanceof Problem && PASSING.includes(error.status) && this.#host.stopping === null;
  }

  async owe(processNames: readonly string[], owed: OwedStart): Promise<void> {
    for (const processName of processNames) await this.#records.setOwedStart(processName, owed);
  }

  async #look(): Promise<void> {
    for (const [processName, owed] of [...this.#records.owedStarts()]) {
      const supervisor = this.#host.find('process.supervisor');
      // Until the boot is over, it is the boot that starts services, in their order.
      if (supervisor === undefined || supervisor.settledMs === null || this.#host.stopping !== null) return;
      const process = supervisor.get(processName);
      if (process?.held != null) continue;
      const fault = process !== undefined && mustStart(process) ? await this.#start(processName) : '';
      if (fault !== null) await this.#settle(processName, owed, fault);
    }
  }

  /** Resolves with what is wrong, which is nothing after a start; with null when the start must be tried again. */
  async #start(processName: string): Promise<string | null> {
    try {
      await this.#host.use('process.supervisor').start(processName, 'install');
    } catch (error) {
      // What the end of this host has refused is tried again by the next one.
      return this.isPassing(error) || this.#host.stopping !== null ? null : `, but not ready: ${errorText(error)}`;
    }
    this.#host.log.info(`${processName} is started again, which its update could not do`);
    return '';
  }

  /** Forgets the start, and changes the message about the update, which must not announce another try any more. */
  async #settle(processName: string, owed: OwedStart, fault: string): Promise<void> {
    const { updated, meanwhile, afterwards } = owed;
    const result = this.#records.result(updated);
    const others = [...this.#records.owedStarts()].filter(([name]) => name !== processName);
    const isOver = fault !== '' || !others.some(([, other]) => deepEqual(other, owed));
    // Forgotten last, so that a host that ends in between does not leave the message behind.
    if (isOver && result?.message === meanwhile)
      await this.#records.setResult(updated, { ...result, message: redact(afterwards + fault) });
    if (this.#records.owedStarts().get(processName) === owed) await this.#records.setOwedStart(processName, null);
  }
}

function mustStart({ status, stoppedByUser, enabled, completed }: ProcessSnapshot): boolean {
  return status === 'stopped' && !stoppedByUser && enabled && completed !== true;
}
