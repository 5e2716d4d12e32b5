// Finds what stands in the way of launching services as they are configured, and changes nothing.
import { type Host, type NamedBlock, Problem } from '#core';
import type {} from '../../services/contract.ts';
import type {} from '../../setup/contract.ts';
import type { LaunchPlan } from '../contract.ts';
import { checkDependencies } from './depends-on.ts';
import { launchFaults } from './launch.ts';
import { roundedVariables } from './rounded-variables.ts';
import { unfilledNames } from './unfilled-names.ts';
import { checkWaits } from './waits.ts';

/** A line for each reason why an enabled service could not be launched. */
export async function findObstacles(
  host: Host,
  blocks: readonly NamedBlock[],
  planOf: (block: NamedBlock) => LaunchPlan,
): Promise<string[]> {
  const enabled = blocks.filter(({ isHost, block }) => !isHost && block.enabled === true);
  const found = await Promise.all(
    enabled.map(async block => {
      const ofPlan = isCompleted(host, block) ? [] : await faultsOfPlan(() => planOf(block));
      const messages = [...(await faultsOfBlock(host, block, blocks)).map(({ message }) => message), ...ofPlan];
      return messages.map(message => `${block.path.join('.')}: ${message}`);
    }),
  );
  return found.flat();
}

/** Whether a template completes the block with its command and its directory right before the start. */
export function isCompleted(host: Host, { configKey }: NamedBlock): boolean {
  return host.find('service.templates')?.get(configKey)?.launch !== undefined;
}

/**
 * What is missing for the set-up of the service, and waits and dependencies of its block that can never be fulfilled.
 */
export async function faultsOfBlock(host: Host, block: NamedBlock, blocks: readonly NamedBlock[]): Promise<Problem[]> {
  const faults = [
    await host.find('service.setup')?.obstacle(block),
    faultOf(() => checkWaits(block.processName, block.block)),
    faultOf(() => checkDependencies(block, blocks)),
  ];
  return faults.filter(fault => fault !== undefined);
}

async function faultsOfPlan(make: () => LaunchPlan): Promise<string[]> {
  let plan: LaunchPlan | undefined;
  const fault = faultOf(() => {
    plan = make();
  });
  if (plan === undefined) return fault === undefined ? [] : [fault.message];
  const doubts = [...unfilledNames(plan), ...roundedVariables(plan)];
  return [...(await launchFaults(plan)).map(({ message }) => message), ...doubts];
}

function faultOf(look: () => void): Problem | undefined {
  try {
    look();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
