// Ends everything that one launch has created: its process group, and descendants that left the group.
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { isAlive, type ProcessIdentity, type ProcessStat, processesOf, readStat } from './proc-table.ts';

export interface StopTarget {
  readonly processName: string;
  readonly leader: ProcessIdentity;
  readonly pgid: number;
  readonly runId: string;
}

const PROCESS_TABLE_MAX_AGE_MS = 20;
/** Group id of a target that has no group. */
export const NO_GROUP = -1;
const POLL_MS = 250;
const AFTER_KILL_MS = 5_000;

/** The living processes of a launch, never including the host. */
export function survivors({ leader, pgid, runId }: StopTarget, maxAgeMs = 0): ProcessStat[] {
  // A group id is not reused while the group lives, but a reused pid may lead a new group.
  const leaderNow = readStat(pgid);
  const ownGroup = leaderNow === null || leaderNow.startTime === leader.startTime;
  return processesOf(ownGroup ? pgid : NO_GROUP, runId, maxAgeMs).filter(({ pid }) => pid !== process.pid);
}

/**
 * Sends the signal once, waits for `graceMs` or until `hurry` fires, then kills. Throws a Problem 500 when a process
 * survives that.
 */
export async function stopProcesses(
  target: StopTarget,
  signal: NodeJS.Signals,
  graceMs: number,
  hurry?: AbortSignal,
): Promise<void> {
  await askAgain(() => signalAll(target, signal));
  if (await gone(target, graceMs, hurry)) return;
  const deadline = performance.now() + AFTER_KILL_MS;
  while (performance.now() < deadline) {
    await askAgain(() => signalAll(target, 'SIGKILL'));
    if (await gone(target, POLL_MS)) return;
  }
  throw new Problem(500, `Failed to stop ${target.processName}: process group ${target.pgid} is still active`);
}

/** Kills at once, without waiting. */
export function killProcesses(target: StopTarget): void {
  signalAll(target, 'SIGKILL');
}

function signalAll(target: StopTarget, signal: NodeJS.Signals): void {
  const living = survivors(target);
  // The kernel reports -1 as the group of a process that is about to disappear.
  if (target.pgid !== NO_GROUP && living.some(stat => stat.pgid === target.pgid)) send(-target.pgid, signal);
  else if (isAlive(target.leader)) send(target.leader.pid, signal);
  for (const stat of living) if (target.pgid === NO_GROUP || stat.pgid !== target.pgid) send(stat.pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function gone(target: StopTarget, withinMs: number, hurry?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, POLL_MS)) {
    const living = await askAgain(() => survivors(target, PROCESS_TABLE_MAX_AGE_MS));
    if (living.length === 0) return true;
    if (performance.now() >= deadline || hurry?.aborted) return false;
    await delay(pauseMs);
  }
}
