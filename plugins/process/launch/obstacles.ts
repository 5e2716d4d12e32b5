// Finds what stands in the way of launching services as they are configured, and changes nothing.
import { type Host, type NamedBlock, Problem } from '#core';
import type {} from '../../services/contract.ts';
import type {} from '../../setup/contract.ts';
import type { LaunchPlan } from '../contract.ts';
import { checkDependencies } from './depends-on.ts';
import { checkLaunchable } from './launch.ts';
import { unfilledName } from './unfilled-name.ts';
import { checkWaits } from './waits.ts';

/** One line for each enabled service that could not be launched. */
export async function findObstacles(
  host: Host,
  blocks: readonly NamedBlock[],
  planOf: (block: NamedBlock) => LaunchPlan,
): Promise<string[]> {
  const enabled = blocks.filter(({ isHost, block }) => !isHost && block.enabled === true);
  const found = await Promise.all(
    enabled.map(async block => {
      const problem = await obstacleOf(host, { block, blocks, planOf });
      return problem === undefined ? [] : [`${block.path.join('.')}: ${problem.message}`];
    }),
  );
  return found.flat();
}

interface Looked {
  readonly block: NamedBlock;
  readonly blocks: readonly NamedBlock[];
  readonly planOf: (block: NamedBlock) => LaunchPlan;
}

async function obstacleOf(host: Host, { block, blocks, planOf }: Looked): Promise<Problem | undefined> {
  const problem = await host.find('service.setup')?.obstacle(block);
  if (problem !== undefined) return problem;
  // What a template launches gets its command and its directory right before the start.
  const isCompleted = host.find('service.templates')?.get(block.configKey)?.launch !== undefined;
  try {
    checkWaits(block.processName, block.block);
    checkDependencies(block, blocks);
    if (isCompleted) return undefined;
    const plan = planOf(block);
    await checkLaunchable(plan);
    const unfilled = unfilledName(plan);
    return unfilled === undefined ? undefined : new Problem(400, unfilled);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
