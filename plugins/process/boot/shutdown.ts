// The ordered stop of all processes: tier after tier, within a time budget, logging each second which processes still
// run.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#core';
import { turnWithTime } from '#kit/turns';
import type { SupervisedProcess } from '../supervise/supervised-process.ts';

const REPORT_EVERY_MS = 1_000;
/** Reserved for the last tier, the databases: earlier tiers are cut short before this time is used. */
const RESERVED_MS = 45_000;
/** Longer than a process may take to end after it was killed. */
const AFTER_HURRY_MS = 6_000;

export interface ShutdownOptions {
  /** Groups in the order of their stop; the members of a group are stopped at the same time. */
  readonly tiers: readonly (readonly SupervisedProcess[])[];
  readonly budgetMs: number;
  readonly log: Logger;
}

/** Kills what still runs at the end of the budget. Throws an Error that names the processes that survive even that. */
export async function shutDown({ tiers, budgetMs, log }: ShutdownOptions): Promise<void> {
  const all = tiers.flat();
  const end = performance.now() + budgetMs;
  const reserved = tiers.length > 1 ? Math.min(RESERVED_MS, budgetMs / 2) : 0;
  let isOver = false;
  const reporter = setInterval(async () => {
    const living = await livingOf(all);
    if (living.length > 0 && !isOver) log.info(`still alive: ${living.map(nameWithPids).join(', ')}`);
  }, REPORT_EVERY_MS);
  try {
    const left: SupervisedProcess[] = [];
    for (const [index, tier] of tiers.entries()) {
      const last = index === tiers.length - 1;
      const leftMs = end - performance.now() - (last ? 0 : reserved);
      left.push(...(await stopTier(tier, Math.max(leftMs, 0), log)));
    }
    const names = left.map(process => nameWithPids({ process, pids: process.livingPids() }));
    if (names.length > 0) throw new Error(`still alive after the shutdown: ${names.join(', ')}`);
  } finally {
    isOver = true;
    clearInterval(reporter);
  }
}

interface Living {
  readonly process: SupervisedProcess;
  readonly pids: readonly number[];
}

async function livingOf(processes: readonly SupervisedProcess[]): Promise<Living[]> {
  const living: Living[] = [];
  for (const process of processes) {
    await turnWithTime();
    const pids = process.livingPids();
    if (pids.length > 0) living.push({ process, pids });
  }
  return living;
}

function nameWithPids({ process, pids }: Living): string {
  return `${process.block.processName} (${pids.join(', ')})`;
}

/**
 * Limits the time of one stop, because steps after the end of the processes may hang, such as a log on a dead mount.
 * The limit counts from the hurry signal, so that a host that was suspended for long still notices processes that ended
 * meanwhile.
 */
async function inTime(stop: Promise<unknown>, hurried: Promise<unknown>, { block }: SupervisedProcess): Promise<void> {
  const timer = new AbortController();
  const late = hurried.then(async () => {
    await delay(AFTER_HURRY_MS, undefined, { signal: timer.signal });
    throw new Error(`the stop of ${block.processName} does not end`);
  });
  try {
    await Promise.race([stop, late]);
  } finally {
    timer.abort();
  }
}

/** Resolves with the processes that could not be stopped. */
async function stopTier(
  tier: readonly SupervisedProcess[],
  limitMs: number,
  log: Logger,
): Promise<SupervisedProcess[]> {
  const running = (await livingOf(tier)).map(({ process }) => process.block.processName);
  if (running.length > 0) log.info(`stopping ${running.join(', ')}`);
  const hurry = new AbortController();
  // One listener for all stops: Node takes many listeners on one signal for a leak.
  const hurried = once(hurry.signal, 'abort');
  const timer = setTimeout(() => hurry.abort(), limitMs);
  try {
    const results = await Promise.allSettled(
      tier.map(async process => {
        await turnWithTime();
        await inTime(process.stop('shutdown', hurry.signal), hurried, process);
      }),
    );
    for (const result of results)
      if (result.status === 'rejected') log.error('a process outlived the shutdown', result.reason);
    return tier.filter((_process, index) => results[index]?.status === 'rejected');
  } finally {
    clearTimeout(timer);
  }
}
