// Holds: while one is active only its holder can start or stop the process. It ends with its work, its signal, its
// deadline or the plugin that took it.
import { Problem } from '#core';
import { orAborted } from '#kit/abort';
import { MAX_TIMER_MS } from '#kit/deadline';
import type { HeldProcess, HoldOptions, ProcessHold } from '../contract.ts';
import type { SupervisedProcess } from './supervised-process.ts';

const DEFAULT_DEADLINE_MS = 60 * 60 * 1_000;
const MS_PER_S = 1_000;

interface Hold extends ProcessHold {
  /** False while the hold still waits for the end of a running operation. */
  active: boolean;
  readonly ended: Promise<void>;
  readonly abort: AbortController;
}

export class Holds {
  readonly #holds = new Map<string, Hold>();
  readonly #onChange: (process: SupervisedProcess) => void;

  constructor(onChange: (process: SupervisedProcess) => void) {
    this.#onChange = onChange;
  }

  of(processName: string): ProcessHold | null {
    const hold = this.#holds.get(processName);
    return hold === undefined ? null : { reason: hold.reason, since: hold.since };
  }

  /** Throws a Problem 409 while the process is held. */
  refuse(processName: string): void {
    const hold = this.#holds.get(processName);
    if (hold === undefined) return;
    throw new Problem(409, `${processName} is held: ${hold.reason}; try again when that is done`, {
      code: 'process.held',
    });
  }

  /** Same as `refuse`, but allows a stop while a hold waits for a running operation, which the stop may end. */
  refuseStop(processName: string): void {
    if (this.#holds.get(processName)?.active === true) this.refuse(processName);
  }

  async released(processName: string): Promise<void> {
    for (let hold = this.#holds.get(processName); hold !== undefined; hold = this.#holds.get(processName))
      await hold.ended;
  }

  async run<Value>(
    process: SupervisedProcess,
    reason: string,
    work: (held: HeldProcess) => Promise<Value>,
    { signal, deadlineMs = DEFAULT_DEADLINE_MS }: HoldOptions,
    holderGone: AbortSignal | undefined,
  ): Promise<Value> {
    const { processName } = process.block;
    this.refuse(processName);
    const abort = new AbortController();
    const ends = AbortSignal.any([signal, holderGone, abort.signal].filter(end => end !== undefined));
    let release: () => void = () => undefined;
    const ended = new Promise<void>(resolve => {
      release = resolve;
    });
    const hold: Hold = { reason, since: Date.now() / MS_PER_S, active: false, ended, abort };
    this.#holds.set(processName, hold);
    this.#onChange(process);
    const timer = setTimeout(
      () => {
        const seconds = deadlineMs / MS_PER_S;
        // A Problem, because the holder is late: another error would count as a fault of process control.
        abort.abort(new Problem(503, `${reason}: the hold of ${processName} took longer than ${seconds} s`));
      },
      Math.min(deadlineMs, MAX_TIMER_MS),
    );
    try {
      await orAborted(() => process.settled(), ends);
      hold.active = true;
      return await orAborted(() => work(this.#handle(process, hold, ends)), ends);
    } finally {
      clearTimeout(timer);
      this.#holds.delete(processName);
      release();
      this.#onChange(process);
    }
  }

  /** Ends all holds, because nothing is supervised from now on. */
  end(reason: Error): void {
    for (const { abort } of this.#holds.values()) abort.abort(reason);
  }

  #handle(process: SupervisedProcess, hold: Hold, signal: AbortSignal): HeldProcess {
    const { processName } = process.block;
    const checkHeld = (): void => {
      signal.throwIfAborted();
      if (this.#holds.get(processName) !== hold)
        throw new Problem(409, `The hold of ${processName} has ended; hold it again`);
    };
    return {
      signal,
      snapshot: () => process.snapshot(),
      async start() {
        checkHeld();
        return process.start('hold');
      },
      async stop() {
        checkHeld();
        return process.stop('hold');
      },
    };
  }
}
