// Adopts a process of a service that no host has recorded, unless it belongs to another user or another host.
import path from 'node:path';
import { type Contribution, type ContributionList, type Host, type NamedBlock, Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { timeAt } from '#kit/boot-clock';
import { lacksDescriptors } from '#kit/descriptors';
import { errorText } from '#kit/error-text';
import { PRINTABLE } from '#kit/printable';
import type { SurvivorSearch } from '../contract.ts';
import { bootId, readStat, userOf } from '../supervise/proc-stat.ts';
import { processesIn } from '../supervise/proc-table.ts';
import { marksAt } from '../supervise/run-marks.ts';
import { NO_GROUP } from '../supervise/stop.ts';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';
import type { Supervision } from '../supervise/supervision.ts';

export interface SurvivorParts {
  readonly host: Host;
  readonly survivors: ContributionList<SurvivorSearch>;
  readonly supervision: Pick<Supervision, 'state' | 'users'>;
  /**
   * Called with the reason why the process must not be started: a process that uses its data, or a search that failed.
   */
  readonly refuse: (error: unknown) => void;
}

export async function adoptSurvivor(process: SupervisedProcess, parts: SurvivorParts): Promise<void> {
  const { block } = process;
  const search = [...parts.survivors].find(({ value }) => value.configKey === block.configKey);
  if (search === undefined || process.snapshot().pid !== null) return;
  const survivor = await askAgain(() => findSurvivor(search, block, parts.supervision)).catch((error: unknown) => {
    parts.refuse(error);
    return null;
  });
  const stat = survivor === null ? null : await askAgain(() => readStat(survivor.pid));
  if (survivor === null || stat === null) return;
  const { pid, pgid, startTime } = stat;
  const found = {
    pid,
    // A group that the process does not lead is that of its starter, and must get no signals.
    pgid: pgid === pid ? pgid : NO_GROUP,
    start_time: startTime,
    boot_id: bootId,
    started_at: timeAt(startTime),
    run_id: '',
  };
  if (await process.adopt(found))
    parts.host.log.info(`${block.processName} already runs as pid ${pid} and was adopted`);
}

/**
 * Asks the plugin of the service for a survivor; null when there is none. Plugins read files that the service itself
 * may write, so a Problem 409 is thrown for a process of another user, and for one of another host, which would end
 * with both hosts.
 */
async function findSurvivor(
  { owner: plugin, value: search }: Contribution<SurvivorSearch>,
  block: NamedBlock,
  { state, users }: SurvivorParts['supervision'],
): ReturnType<SurvivorSearch['find']> {
  let survivor: Awaited<ReturnType<SurvivorSearch['find']>>;
  try {
    survivor = await search.find(block, processesIn);
  } catch (error) {
    if (error instanceof Problem || lacksDescriptors(error)) throw error;
    const reason = `the plugin ${plugin}, which tells whether it runs already, fails: ${errorText(error)}`;
    throw new Error(`${block.processName} is not started, because ${reason}`, { cause: error });
  }
  if (survivor === null) return null;
  const [user, own] = [userOf(survivor.pid), users.of(block)?.uid ?? process.getuid?.()];
  if (user !== undefined && user !== own) {
    throw new Problem(
      409,
      `${block.processName} is not started beside process ${survivor.pid} of user ${user}, which uses its data; end that, or ` +
        'choose another directory',
    );
  }
  const owner = marksAt(survivor.pid).directory;
  if (owner === undefined || state.isRecordedIn(owner)) return survivor;
  throw new Problem(
    409,
    `${block.processName} is not started beside process ${survivor.pid}, which the Stackwarden of ` +
      `${PRINTABLE.test(owner) ? path.dirname(owner) : 'another directory'} runs on its data; stop it there, or choose another directory`,
  );
}
