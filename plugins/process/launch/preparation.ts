// Prepares a launch from a configuration block: taps, ports, waits, and a check that the program can be run.
import path from 'node:path';
import { type Host, type NamedBlock, Problem } from '#core';
import { orAborted } from '#kit/abort';
import { lacksDescriptors } from '#kit/descriptors';
import type { PlaceholderValues } from '#kit/placeholder-values';
import { turnWithTime } from '#kit/turns';
import type { LaunchPlan, StartTrigger } from '../contract.ts';
import { digestOf } from './block-digest.ts';
import { copyEnvironmentFile } from './env-copy.ts';
import { checkLaunchable, withoutDescriptors } from './launch.ts';
import { createLaunchPlan } from './launch-plan.ts';
import { FALLBACK, ownDirectory } from './own-directory.ts';
import { movePorts } from './port-moves.ts';
import type { PortTurns } from './port-turns.ts';
import { type Companion, NO_PORT, type PortMoves, refuseForeignHolder, resolvePorts } from './ports.ts';
import { checkReachable } from './reach.ts';
import { roundedVariables } from './rounded-variables.ts';
import type { RunUsers } from './run-user.ts';
import { unfilledNames } from './unfilled-names.ts';
import { checkMayChangeUser, checkUserExists } from './user-namespace.ts';
import { hasWaits, type Processes, waitForDependencies } from './waits.ts';

/** A process whose entry has another name by now. */
/** What an earlier host left behind of a service, while it is being ended. */
interface LeftBehind {
  readonly block: NamedBlock;
  readonly gone: Promise<void>;
}

export interface Predecessor {
  readonly processName: string;
  /** Resolves when the process is not held any more and has ended, or could not be ended. */
  readonly gone: Promise<void>;
}

/** `blocks` has `enabled` as the supervisor sees it. */
export interface Preparation extends Processes {
  readonly host: Host;
  readonly trigger: StartTrigger;
  /** Aborts when the start is cancelled. */
  readonly signal: AbortSignal;
  /** The current block, which may change while the start waits. */
  block(): NamedBlock;
  /** The process that had the entry of the block under another name, while it is held or has not ended. */
  predecessor(block: NamedBlock): Predecessor | undefined;
  readonly portCompanion: Companion;
  readonly portTurns: PortTurns;
  /** See `Supervision.leftOn`. */
  leftOn(ports: readonly number[]): Promise<readonly LeftBehind[]>;
  /** True when the process keeps the rights of the host; a text says why one that could have them does not. */
  asController(block: NamedBlock): true | string | undefined;
  readonly users: RunUsers;
  /** Values for `{name}` from other plugins. */
  placeholders(block: NamedBlock): PlaceholderValues;
  prepare(plan: LaunchPlan): Promise<LaunchPlan>;
  /** Called with what is waited for, and with null when it is there. */
  onWaiting(what: string | null): void;
}

/** Throws a Problem when the process cannot be launched, and the signal's reason when the start is cancelled. */
export async function prepareLaunch(preparation: Preparation): Promise<LaunchPlan> {
  preparation.portTurns.begin(preparation.block().processName);
  try {
    return await preparedPlan(preparation);
  } catch (error) {
    throw lacksDescriptors(error) ? withoutDescriptors(preparation.block(), error) : error;
  }
}

async function preparedPlan(preparation: Preparation): Promise<LaunchPlan> {
  const { host, signal, block, onWaiting } = preparation;
  refuseUnfit(host, block().processName);
  // Many starts may be requested at the same time.
  await turnWithTime();
  await untilSucceeding(preparation);
  let plan = await planOf(preparation);
  const { blocks, snapshot, isReady, reasonOf } = preparation;
  const waiting = { log: host.log, fetch: host.fetch, onWaiting, blocks, snapshot, isReady, reasonOf };
  // A refused start must change no port and make no directory.
  const checked = hasWaits(plan, waiting) || liesInOwnDirectory(plan) ? undefined : plan;
  if (checked !== undefined) await checkLaunchable(checked);
  await adjustPorts(preparation);
  await waitForDependencies(plan, waiting);
  // A moved port, a tap or a user may have changed the block meanwhile; the plan is then made again.
  if (digestOf(plan.block) !== digestOf(block().block)) {
    await adjustPorts(preparation);
    plan = await planOf(preparation);
  }
  const own = plan.cwd === undefined ? await ownDirectory(plan, { host, blocks }) : undefined;
  plan.cwd ??= own;
  await copyEnvironmentFile(plan, preparation.users.of(block()));
  if (plan !== checked || own !== undefined) await checkLaunchable(plan);
  if (!(await checkReachable(plan, host.log, own))) {
    plan.cwd = FALLBACK;
    await checkLaunchable(plan);
    await checkReachable(plan, host.log);
  }
  for (const doubt of [...unfilledNames(plan), ...roundedVariables(plan)]) host.log.warn(doubt);
  signal.throwIfAborted();
  return plan;
}

/**
 * Waits until the process that had the entry under another name has ended, because both would share files and ports.
 * Throws a Problem 409 when it could not be ended.
 */
async function untilSucceeding({ block, signal, predecessor, onWaiting }: Preparation): Promise<void> {
  let asked: Predecessor | undefined;
  for (let former = predecessor(block()); former !== undefined; former = predecessor(block())) {
    const { processName, gone } = former;
    if (gone === asked?.gone)
      throw new Problem(409, `What ${block().processName} was before, ${processName}, still runs; end that first`);
    asked = former;
    onWaiting(`the end of ${processName}, which had its entry before`);
    await orAborted(() => gone, signal).finally(() => onWaiting(null));
  }
}

/** Throws a Problem when the configuration, or a value of the block that does not fit, keeps it from being launched. */
export function refuseUnfit(host: Host, processName: string): void {
  const { state, stateReason, disabledBlocks } = host.use('config.store');
  if (state === 'safe') throw new Problem(503, `${processName} was not started: ${stateReason}`);
  const misfit = disabledBlocks.get(processName);
  if (misfit !== undefined) throw new Problem(409, `${processName} was not started: ${misfit}; start it after that`);
}

/** Whether the program is named by its place in the directory that a service without `config_dir` is given. */
export function liesInOwnDirectory({ cwd, argv: [program = ''] }: LaunchPlan): boolean {
  return cwd === undefined && program.includes('/') && !path.isAbsolute(program);
}

async function planOf(preparation: Preparation): Promise<LaunchPlan> {
  const { host, trigger, signal, prepare, onWaiting } = preparation;
  const store = host.use('config.store');
  const root = store.root();
  const block = preparation.block();
  refuseUnfit(host, block.processName);
  const placeholders = preparation.placeholders(block);
  const withheld = store.overridingVariables();
  const rights = preparation.asController(block);
  if (typeof rights === 'string') host.log.warn(`${block.processName} runs as the services' user: ${rights}`);
  const user = preparation.users.of(block, rights === true);
  checkUserExists(block.processName, user);
  checkMayChangeUser(block.processName, user);
  const input = { block, root, trigger, signal, env: process.env, withheld, user, placeholders, showWait: onWaiting };
  const plan = await prepare(createLaunchPlan(input));
  signal.throwIfAborted();
  return plan;
}

async function adjustPorts(preparation: Preparation): Promise<void> {
  const { host, signal, block, blocks, snapshot, portCompanion, portTurns, leftOn, onWaiting } = preparation;
  const { processName } = block();
  const freed = async (ports: readonly number[]): Promise<void> => {
    const left = await leftOn(ports);
    if (left.length === 0) return;
    const names = left.map(({ block: former }) => former.processName);
    const what = `the end of what ${names.join(' and ')} left on its port`;
    host.log.info(`${processName} waits for ${what}`);
    onWaiting(what);
    await orAborted(() => Promise.all(left.map(({ gone }) => gone)), signal).finally(() => onWaiting(null));
  };
  const look = async (all: readonly NamedBlock[]): Promise<PortMoves> => {
    const current = all.find(other => other.processName === processName);
    if (current === undefined) return new Map();
    await refuseForeignHolder(current);
    const changes = await resolvePorts(current, all, portCompanion, other => portTurns.isGiven(other, snapshot));
    return new Map(changes.length === 0 ? [] : [[current, changes]]);
  };
  const unsaved = (cause: unknown): Problem => {
    const reason = `${processName} was not started: its changed port could not be saved`;
    return new Problem(500, reason, { code: NO_PORT, cause });
  };
  const onMoved = () => portTurns.give(processName);
  await movePorts({ host, signal, portCompanion, portTurns, blocks, look, freed, unsaved, onMoved });
}
