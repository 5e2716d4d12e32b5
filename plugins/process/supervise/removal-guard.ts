// Refuses changes of the configuration that take away the entry of a process which runs or is held.
import { Problem } from '#core';
import { valueAt } from '#kit/value-at';
import type { Holds } from './holds.ts';
import type { SupervisedProcess } from './supervised-process.ts';

type Members = Readonly<Record<string, unknown>>;

/** Throws a Problem 409 that says what to do first. A renamed process counts as removed. */
export function guardRemovals(
  before: Members,
  after: Members,
  processes: readonly SupervisedProcess[],
  holds: Pick<Holds, 'refuse'>,
): void {
  for (const process of processes) {
    const { processName, path } = process.block;
    if (nameAt(before, path) !== processName || nameAt(after, path) === processName) continue;
    holds.refuse(processName);
    if (process.snapshot().status !== 'stopped')
      throw new Problem(409, `${processName} is running; stop it before its entry is removed or renamed`);
  }
}

/** The process name in the block at a path; undefined when there is none. */
function nameAt(root: unknown, path: readonly string[]): unknown {
  return valueAt(root, [...path, 'process_name']);
}
