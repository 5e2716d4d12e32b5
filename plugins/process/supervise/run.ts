// One run of a process, launched by this host or adopted from an earlier one. It is recorded before anything else
// happens.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { type Host, type NamedBlock, Problem } from '#core';
import { askAgain } from '#kit/ask-again';
import { ticksNow, timeAt } from '#kit/boot-clock';
import { reasonText } from '#kit/error-text';
import type { CapturedOutput, CaptureThread } from '../capture/capture-thread.ts';
import type { CaptureTarget } from '../capture/session-options.ts';
import type { LaunchPlan } from '../contract.ts';
import { digestOf } from '../launch/block-digest.ts';
import { launch, openOutput } from '../launch/launch.ts';
import { attempt } from './attempt.ts';
import { enterCgroup, makeCgroup, NO_CGROUP, pidsIn, removeCgroup } from './cgroup.ts';
import type { Exit } from './exit-record.ts';
import type { ExitWatch } from './exit-watch.ts';
import { makeInputPipe, removeInputPipe } from './input-pipe.ts';
import type { KeptBlock } from './kept-block.ts';
import { launchedAs, recordOf } from './launch-record.ts';
import { identify, isAlive, type ProcessIdentity } from './proc-stat.ts';
import { descendantsOf, forgetTable } from './proc-table.ts';
import { marksOf } from './run-marks.ts';
import type { FoundProcess, StateFile } from './state-file.ts';
import type { StopTarget } from './stop.ts';

const MS_PER_S = 1_000;
/** How often processes outside the cgroup are looked for. Those that multiply faster are found by their other marks. */
const GATHER_ROUNDS = 3;

export interface Run {
  readonly target: StopTarget;
  readonly output: CapturedOutput;
  /** Clock ticks after boot of the launch. */
  readonly startTicks: number;
  /** Monotonic milliseconds of the launch. */
  readonly startedMs: number;
  readonly adopted: boolean;
  /** The block with which the run was begun. */
  readonly block: NamedBlock;
  readonly blockDigest: string;
  readonly exited: Promise<Exit>;
}

export interface CurrentRun extends Run {
  /** Resolves when the exit has been handled. */
  readonly ended: Promise<void>;
}

export interface RunParts {
  readonly capture: CaptureThread;
  readonly state: StateFile;
  readonly exits: ExitWatch;
}

/** What a run uses of its block. */
export interface RunSettings {
  readonly target: CaptureTarget;
  readonly kept: KeptBlock;
}

export async function launchRun(
  { capture, state }: RunParts,
  named: NamedBlock,
  plan: LaunchPlan,
  { target, kept }: RunSettings,
): Promise<Run> {
  const { processName, block } = named;
  const runId = randomUUID();
  const spoolFile = capture.newSpool(processName);
  const cgroup = await makeCgroup(runId);
  const blockDigest = digestOf(block);
  const launched = {
    started_at: Date.now() / MS_PER_S,
    run_id: runId,
    spool: spoolFile,
    block_digest: blockDigest,
    cgroup,
    ...kept,
  };
  // These steps run concurrently, because a restart waits for all of them. Failures are handled where the steps are
  // awaited.
  const capturing = openCapture(capture, target, spoolFile);
  const opening = capturing.then(() => openOutput(plan, spoolFile));
  opening.catch(() => undefined);
  // Written before the pid is known, so that the next host finds the process if this one is killed now.
  const recording = state.begin(processName, recordOf(launched));
  recording.catch(() => undefined);
  try {
    const output = await capturing;
    await recording;
    const env = { ...plan.env, ...marksOf({ runId, processName, directory: state.directory }) };
    const spool = await opening;
    const input = block.stdin === true ? await makeInputPipe(state.directory, runId, plan.user) : undefined;
    const { pid, exited } = await launch({ ...plan, env }, spool, input).finally(() => input?.close());
    forgetTable();
    const leader = (await askAgain(() => identify(pid)).catch(() => null)) ?? { pid, startTime: 0, bootId: '' };
    state.launched(processName, recordOf(launched, leader));
    const stopTarget = { processName, leader, pgid: pid, runId, cgroup, spoolFile, descendants: new Map() };
    // Not awaited, because the kernel may take its time. Children that were created meanwhile are moved afterwards;
    // those that cannot be moved are found by their other marks.
    if (cgroup !== NO_CGROUP) void gather(cgroup, leader).catch(() => undefined);
    const startTicks = leader.startTime || ticksNow();
    const startedMs = performance.now();
    return { target: stopTarget, output, startTicks, startedMs, adopted: false, block: named, blockDigest, exited };
  } catch (error) {
    await opening.then(handle => handle.close()).catch(() => undefined);
    state.delete(processName, runId);
    await removeInputPipe(state.directory, runId);
    removeCgroup(cgroup);
    const clearing = capturing.then(
      output => output.finish(),
      () => removeSpool(spoolFile),
    );
    await clearing.catch(() => undefined);
    throw error;
  }
}

/** Applies a changed block to a run. Never throws. */
export async function changeRun(
  { target: { processName, runId }, output }: Run,
  settings: () => RunSettings,
  { host, state }: Pick<RunParts, 'state'> & { readonly host: Host },
): Promise<void> {
  await attempt(host.log, `the log of ${processName} could not be changed`, async () => {
    const { target, kept } = settings();
    state.keep(processName, runId, kept);
    await output.retarget(target);
  });
}

/** Moves the leader into the cgroup, and the descendants that it created before it was moved. */
async function gather(cgroup: string, leader: ProcessIdentity): Promise<void> {
  let outside = [leader.pid];
  for (let round = 0; round < GATHER_ROUNDS && outside.length > 0; round += 1) {
    for (const pid of outside) await enterCgroup(cgroup, pid);
    outside = await askAgain(() => pidsOutside(cgroup, leader));
  }
}

function pidsOutside(cgroup: string, leader: ProcessIdentity): number[] {
  const inside = new Set(pidsIn(cgroup));
  const found = isAlive(leader) ? descendantsOf(leader.pid) : [];
  return found.filter(pid => !inside.has(pid));
}

async function openCapture(capture: CaptureThread, target: CaptureTarget, spoolFile: string): Promise<CapturedOutput> {
  try {
    return await capture.open(target, spoolFile);
  } catch (error) {
    const { processName } = target;
    const reason =
      error instanceof Problem ? error.message : `${path.dirname(spoolFile)} cannot be written (${reasonText(error)})`;
    throw new Problem(503, `${processName} is not started, because its output cannot be kept: ${reason}`, {
      cause: error,
    });
  }
}

/** Removes the spool of a launch that failed before its output was read. Each failed attempt would leave one. */
async function removeSpool(spoolFile: string): Promise<void> {
  for (const file of [spoolFile, `${spoolFile}.position`]) await rm(file, { force: true });
}

/** null when the recorded process is gone. */
export async function adoptRun(
  { capture, state, exits }: RunParts,
  named: NamedBlock,
  found: FoundProcess,
  { target, kept }: RunSettings,
): Promise<Run | null> {
  const { processName, block } = named;
  const record = { ...found, ...launchedAs(found) };
  const leader: ProcessIdentity = { pid: record.pid, startTime: record.start_time, bootId: record.boot_id };
  if (!(await askAgain(() => isAlive(leader)))) return null;
  const output = await capture.resume(target, record.spool);
  const blockDigest = record.block_digest || digestOf(block);
  const cgroup = record.cgroup ?? NO_CGROUP;
  state.set(processName, {
    ...record,
    spool: output.spoolFile,
    block_digest: blockDigest,
    cgroup,
    ...kept,
  });
  return {
    target: {
      processName,
      leader,
      pgid: record.pgid,
      runId: record.run_id,
      cgroup,
      spoolFile: found.spool ?? null,
      descendants: new Map(),
    },
    output,
    startTicks: leader.startTime,
    startedMs: performance.now() - (Date.now() - timeAt(leader.startTime) * MS_PER_S),
    adopted: true,
    block: named,
    blockDigest,
    exited: exits.gone(leader).then(() => ({ code: null, signal: null })),
  };
}
