// Starts look at their ports one after the other: what one start is given must be known to the next, although nothing
// listens there yet.
import type { NamedBlock } from '#core';
import { orAborted } from '#kit/abort';
import type { Processes } from './waits.ts';

export class PortTurns {
  #last: Promise<unknown> = Promise.resolve();
  /** Names of processes whose latest start has its ports. */
  readonly #given = new Set<string>();

  /** Called when a start begins, which has no ports yet. */
  begin(processName: string): void {
    this.#given.delete(processName);
  }

  /** Does the work when that of all callers before is done, unless the signal fires before. */
  take<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return orAborted(() => turn, signal);
  }

  give(processName: string): void {
    this.#given.add(processName);
  }

  /** Whether the service runs, or a start of it that is under way has its ports; it may not listen yet. */
  isGiven({ processName }: Pick<NamedBlock, 'processName'>, snapshot: Processes['snapshot']): boolean {
    const status = snapshot(processName)?.status;
    return status === 'running' || (status === 'starting' && this.#given.has(processName));
  }
}
