// Ends everything that one launch has created: its process group, and descendants that left the group.
import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { ticksNow } from '#kit/boot-clock';
import { sendSignal } from '#kit/send-signal';
import { turnWithTime } from '#kit/turns';
import { pidsIn } from './cgroup.ts';
import { bootId, isAlive, type ProcessIdentity, type ProcessStat, readStat } from './proc-stat.ts';
import { lookAround, lookAside, lookSince, type ProcessTable, withDescendants } from './proc-table.ts';

export interface StopTarget {
  readonly processName: string;
  readonly leader: ProcessIdentity;
  readonly pgid: number;
  readonly runId: string;
  /** The directory of the run's cgroup; blank when it has none. */
  readonly cgroup: string;
  /** The file of the run's output; null for a process that no host has launched. */
  readonly spoolFile: string | null;
  /** Start times by pid of the processes that were last found to belong to the run. */
  descendants: ReadonlyMap<number, number>;
}

const PROCESS_TABLE_MAX_AGE_MS = 20;
/** Group id of a target that has no group. */
export const NO_GROUP = -1;
const POLL_MS = 250;
const AFTER_KILL_MS = 5_000;

/**
 * The living processes of a launch, never including the host: its leader, its group, its cgroup, processes that have
 * its run's id or were found before, and all descendants of these. They are remembered, because a child whose parent
 * has ended may have left every other mark behind.
 */
export function survivors(target: StopTarget, maxAgeMs = 0): ProcessStat[] {
  return survivorsIn(lookAround(maxAgeMs), target);
}

/** Same as `survivors`, in several turns of the event loop. */
export async function survivorsAside(target: StopTarget, maxAgeMs: number): Promise<ProcessStat[]> {
  return survivorsIn(await withRuns(lookAside(maxAgeMs), target), target);
}

/**
 * Same, from a process table that was read after `sinceMs`, in monotonic milliseconds; also finds processes that write
 * to the run's output.
 */
export function allSurvivorsSince(target: StopTarget, sinceMs: number): Promise<ProcessStat[]> {
  return withWriters(lookSince(sinceMs), target);
}

async function withRuns(looking: Promise<ProcessTable>, { leader }: StopTarget): Promise<ProcessTable> {
  const table = await looking;
  await table.readRuns(startOf(leader));
  // All callers that share a table go on at the same time.
  await turnWithTime();
  return table;
}

function survivorsIn(table: ProcessTable, target: StopTarget, others: ReadonlySet<number> = new Set()): ProcessStat[] {
  const { leader, pgid, runId, cgroup, descendants } = target;
  // A group id is not reused while the group lives, but a reused pid may lead a new group.
  const leaderNow = pgid === NO_GROUP ? null : readStat(pgid);
  const isOwnGroup = pgid !== NO_GROUP && (leaderNow === null || leaderNow.startTime === leader.startTime);
  const inside = new Set([...pidsIn(cgroup), ...others]);
  const known = [leader.pid, ...inside, ...descendants.keys()].flatMap(pid => {
    const stat = table.get(pid);
    if (stat === undefined) return [];
    return isLeader(stat, leader) || inside.has(pid) || descendants.get(pid) === stat.startTime ? [stat] : [];
  });
  const members = [...known, ...(isOwnGroup ? table.inGroup(pgid) : []), ...table.ofRun(runId, startOf(leader))];
  const found = withDescendants(members, table);
  target.descendants = new Map(found.map(({ pid, startTime }) => [pid, startTime]));
  return found;
}

/**
 * The start time of a leader; 0 when it is of another boot or was never seen, because no process is then known to be
 * older.
 */
function startOf(leader: ProcessIdentity): number {
  return leader.bootId === bootId ? leader.startTime : 0;
}

function isLeader({ pid, startTime }: ProcessStat, leader: ProcessIdentity): boolean {
  return pid === leader.pid && startTime === leader.startTime && leader.bootId === bootId;
}

/**
 * Same as `survivorsAside`, but also finds processes that write to the run's output, for which every process must be
 * read.
 */
function allSurvivors(target: StopTarget): Promise<ProcessStat[]> {
  return withWriters(lookAside(PROCESS_TABLE_MAX_AGE_MS), target);
}

async function withWriters(looking: Promise<ProcessTable>, target: StopTarget): Promise<ProcessStat[]> {
  const { spoolFile } = target;
  const table = await withRuns(looking, target);
  const writers = spoolFile === null ? undefined : await table.writersOf(spoolFile, startOf(target.leader));
  await turnWithTime();
  return survivorsIn(table, target, writers);
}

/**
 * A stop signal that each process of a run gets once, even if it showed no mark of the run when the signal was sent.
 */
class StopSignal {
  readonly #target: StopTarget;
  readonly #signal: NodeJS.Signals;
  /** Start times by pid. */
  readonly #sent = new Map<number, number>();
  #ticks = 0;

  constructor(target: StopTarget, signal: NodeJS.Signals) {
    this.#target = target;
    this.#signal = signal;
  }

  send(living: readonly ProcessStat[]): void {
    this.#ticks = ticksNow();
    const refused = signalAll(this.#target, living, this.#signal);
    if (refused.length > 0 && refused.length === living.length) throw new Problem(500, refusal(this.#target, refused));
    this.#note(living);
  }

  /**
   * Sends the signal to processes that existed when it was first sent but were found later, such as a child before its
   * exec, and to those that the host itself started since. The service has started all other younger ones in order to
   * end, so they are left alone.
   */
  sendToOverlooked(living: readonly ProcessStat[]): void {
    const overlooked = living.filter(
      ({ pid, parentPid, startTime }) =>
        (startTime < this.#ticks || parentPid === process.pid) && this.#sent.get(pid) !== startTime,
    );
    for (const { pid } of overlooked) trySignal(pid, this.#signal);
    this.#note(overlooked);
  }

  #note(living: readonly ProcessStat[]): void {
    for (const { pid, startTime } of living) this.#sent.set(pid, startTime);
  }
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
  await turnWithTime();
  await askAgain(() => allSurvivors(target));
  const stopSignal = new StopSignal(target, signal);
  await askAgain(async () => stopSignal.send(await survivorsAside(target, PROCESS_TABLE_MAX_AGE_MS)));
  if (await allGone(target, graceMs, hurry, stopSignal)) return;
  const deadline = performance.now() + AFTER_KILL_MS;
  let refused: readonly number[] = [];
  while (performance.now() < deadline) {
    await askAgain(async () => {
      refused = signalAll(target, await survivorsAside(target, PROCESS_TABLE_MAX_AGE_MS), 'SIGKILL');
    });
    if (await allGone(target, POLL_MS)) return;
  }
  if (refused.length > 0) throw new Problem(500, refusal(target, refused));
  const pids = (await survivorsAside(target, PROCESS_TABLE_MAX_AGE_MS)).map(({ pid }) => pid);
  throw new Problem(500, `Failed to stop ${target.processName}: still alive after SIGKILL: ${pids.join(', ')}`);
}

/** Kills at once, without waiting. */
export function killProcesses(target: StopTarget): void {
  signalAll(target, survivors(target, PROCESS_TABLE_MAX_AGE_MS), 'SIGKILL');
}

/**
 * The pids that the host may not signal: those of programs that changed their user, or all when it runs without
 * CAP_KILL. The kernel tells nothing of a group when it may signal one of its members.
 */
function signalAll(target: StopTarget, living: readonly ProcessStat[], signal: NodeJS.Signals): number[] {
  // The kernel reports -1 as the group of a process that is about to disappear.
  const asGroup = target.pgid !== NO_GROUP && living.some(({ pgid }) => pgid === target.pgid);
  const isGroupSent = asGroup && trySignal(-target.pgid, signal);
  const refused: number[] = [];
  for (const { pid, pgid } of living) {
    const ofGroup = asGroup && pgid === target.pgid;
    if (!(ofGroup ? isGroupSent : trySignal(pid, signal))) refused.push(pid);
  }
  return refused;
}

/** Signals a process or group; false when the host may not. */
function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    sendSignal(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
    return false;
  }
}

function refusal({ processName }: StopTarget, pids: readonly number[]): string {
  return (
    `Failed to stop ${processName}: Stackwarden may not signal ${pids.join(', ')} of another user; give it the capability ` +
    'CAP_KILL (docker: --cap-add KILL), or end them as their user'
  );
}

/** Same as `gone`, and no process writes to the run's output any more. */
async function allGone(
  target: StopTarget,
  withinMs: number,
  hurry?: AbortSignal,
  stopSignal?: StopSignal,
): Promise<boolean> {
  if (!(await gone(target, withinMs, hurry, stopSignal))) return false;
  return (await askAgain(() => allSurvivors(target))).length === 0;
}

async function gone(
  target: StopTarget,
  withinMs: number,
  hurry?: AbortSignal,
  stopSignal?: StopSignal,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, POLL_MS)) {
    if (await askAgain(() => isGone(target, stopSignal))) return true;
    if (performance.now() >= deadline || hurry?.aborted) return false;
    await delay(pauseMs);
    await turnWithTime();
  }
}

/** While the leader lives, other processes are looked at only now and then, to know what the leader has created. */
async function isGone(target: StopTarget, stopSignal?: StopSignal): Promise<boolean> {
  const leaderLives = isAlive(target.leader);
  const left = await survivorsAside(target, leaderLives ? POLL_MS : PROCESS_TABLE_MAX_AGE_MS);
  stopSignal?.sendToOverlooked(left);
  return !leaderLives && left.length === 0;
}
