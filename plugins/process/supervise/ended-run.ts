// The steps after the leader of a run has ended.
import { existsSync } from 'node:fs';
import { type NamedBlock, Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { withDeadline } from '#kit/deadline';
import { attempt } from './attempt.ts';
import { captureTargetOf } from './capture-target.ts';
import { removeCgroup } from './cgroup.ts';
import type { Ending } from './ending.ts';
import type { ExitWatch } from './exit-watch.ts';
import { removeInputPipe } from './input-pipe.ts';
import { targetOf } from './launch-record.ts';
import { isStaying } from './proc-stat.ts';
import type { CurrentRun, Run } from './run.ts';
import type { ProcessRecord } from './state-file.ts';
import type { Supervision } from './supervision.ts';

/**
 * Whether the leader of a run lives and is not being ended. A run whose leader has ended stays until its exit is
 * handled.
 */
export function goesOn({ target }: Run): Promise<boolean> {
  return askAgain(() => isStaying(target.leader));
}

/**
 * Resolves at once for a run that goes on, otherwise when its exit is handled. Throws a Problem 503 when that takes too
 * long.
 */
export async function exitHandled(run: CurrentRun, exits: ExitWatch, limitMs: number): Promise<void> {
  if (await goesOn(run)) return;
  const { processName, leader } = run.target;
  exits.look(leader);
  await withDeadline(() => run.ended, limitMs, 'the end of its last run').catch((cause: unknown) => {
    throw new Problem(503, `${processName} is still ending; try again in a moment`, { cause });
  });
}

/** Reads the output of a run to the end, and removes its input pipe. Never throws. */
export async function finishRun(
  { output, target }: Run,
  { host, state }: Pick<Supervision, 'host' | 'state'>,
): Promise<void> {
  const { processName, runId } = target;
  const reading = `the last output of ${processName} cannot be read or cleared away`;
  await Promise.all([
    attempt(host.log, reading, () => output.finish()),
    attempt(host.log, `the input of ${processName} cannot be removed`, () => removeInputPipe(state.directory, runId)),
  ]);
}

/** Called when nothing of the run is left. */
export function forgetRun({ target }: Run, { lineage, state }: Pick<Supervision, 'lineage' | 'state'>): void {
  lineage.delete(target);
  removeCgroup(target.cgroup);
  state.ended(target.processName, target.runId);
}

/** After the leader of an earlier host's launch has ended: ends its descendants and reads its output to the end. */
export async function clearAway(
  record: ProcessRecord,
  {
    block,
    ending,
    supervision: { host, capture },
  }: {
    readonly block: NamedBlock;
    readonly ending: Ending;
    readonly supervision: Supervision;
  },
): Promise<void> {
  const { run_id: runId, cgroup, spool } = record;
  if (runId !== '') await ending.clear(targetOf(block.processName, record));
  removeCgroup(cgroup);
  const output = captureTargetOf(host, block);
  if (existsSync(spool)) await (await capture.resume(output, spool)).finish();
}
