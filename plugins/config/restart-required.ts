// Finds the changed values that take effect only after a restart by a user.
import type { NamedBlock } from '#core';
import type { ProcessSupervisor } from '../process/contract.ts';

/** Of the paths that do not act at once, those of the host itself and those of services that run. */
export function actingLater(
  paths: readonly string[],
  blocks: readonly NamedBlock[],
  supervisor: ProcessSupervisor | undefined,
): string[] {
  const stopped = blocks
    .filter(({ isHost, processName }) => !isHost && supervisor?.get(processName)?.status !== 'running')
    .map(({ path }) => `${path.join('.')}.`);
  return paths.filter(path => !stopped.some(prefix => path.startsWith(prefix)));
}
