// Checks, before a running process is stopped, whether it could be launched again. Changes nothing.
import { type Host, type NamedBlock, Problem } from '#core';
import type { LaunchPlan, StartTrigger } from '../contract.ts';
import { requireDependencies } from '../launch/depends-on.ts';
import { launchFaults } from '../launch/launch.ts';
import { createLaunchPlan } from '../launch/launch-plan.ts';
import { requireDescriptors, requireProcess } from '../launch/launch-room.ts';
import { faultsOfBlock, isCompleted } from '../launch/obstacles.ts';
import { liesInOwnDirectory, refuseUnfit } from '../launch/preparation.ts';
import { checkStillReachable } from '../launch/reach.ts';
import { isWaiting } from '../launch/waits.ts';
import type { Supervision } from './supervision.ts';

/** Throws a Problem when the process could be stopped but not launched again. */
export async function requireRelaunch(
  supervision: Supervision,
  block: NamedBlock,
  trigger: StartTrigger,
): Promise<void> {
  const { host, state, users, launchPolicy } = supervision;
  const { processName } = block;
  const user = users.of(block, launchPolicy(block.configKey)?.asController?.(block) === true);
  try {
    refuseUnfit(host, processName);
    await requireLaunchable(supervision, block, user);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code } = error;
    const detail = `${error.message}; until then it goes on running`;
    throw new Problem(status, detail, { cause: error, ...(code === undefined ? {} : { code }) });
  }
  state.requireRoom(processName);
  requireDescriptors(processName);
  // Skipped for an automatic restart: the service may itself have used up all processes, and a failure is tried again.
  if (trigger !== 'auto-restart') await requireProcess(processName, user);
}

/** The plan of a launch as far as it is known without its preparation. Throws a Problem when there can be none. */
export function trialPlan({ host, placeholders, users }: Supervision, block: NamedBlock): LaunchPlan {
  const store = host.use('config.store');
  return createLaunchPlan({
    block,
    root: store.root(),
    trigger: 'request',
    signal: host.signal,
    env: process.env,
    withheld: store.overridingVariables(),
    user: users.of(block),
    placeholders: placeholders(block),
    showWait: () => undefined,
  });
}

async function requireLaunchable(supervision: Supervision, block: NamedBlock, user: LaunchPlan['user']): Promise<void> {
  const { host, blocks, snapshot, isReady, reasonOf } = supervision;
  const [fault] = await faultsOfBlock(host, block, blocks());
  if (fault !== undefined) throw fault;
  await requireDependencies(block, supervision);
  const plan = isCompleted(host, block) ? await completedPlan(host, block) : trialPlan(supervision, block);
  // A program that is yet to be installed is checked with its installation.
  if (plan === undefined) return;
  const [faultOfPlan] = isCompleted(host, block) || liesInOwnDirectory(plan) ? [] : await launchFaults(plan);
  const waiting = { log: host.log, fetch: host.fetch, onWaiting: () => undefined, blocks, snapshot, isReady, reasonOf };
  // The program may come with something that the start waits for, such as a mount.
  if (faultOfPlan !== undefined && !(await isWaiting(plan, waiting))) throw faultOfPlan;
  if (faultOfPlan === undefined) await checkStillReachable({ ...plan, user }, host.log);
}

async function completedPlan(host: Host, block: NamedBlock): Promise<LaunchPlan | undefined> {
  try {
    return await host.find('service.setup')?.plan(block);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
