// Finds the changed values that take effect only after a restart by a user.
import type { NamedBlock } from '#core';
import type { ProcessSupervisor } from '../process/contract.ts';

/** `paths` without those of services that do not run: these act at the next start anyway. */
export function actingLater(
  paths: readonly string[],
  blocks: readonly NamedBlock[],
  supervisor: ProcessSupervisor | undefined,
): string[] {
  const stopped = blocks
    .map(({ isHost, processName, path }) => ({ isHost, processName, prefix: `${path.join('.')}.` }))
    .filter(({ prefix }) => paths.some(path => path.startsWith(prefix)))
    .filter(({ isHost, processName }) => !isHost && supervisor?.get(processName)?.status !== 'running');
  return paths.filter(path => !stopped.some(({ prefix }) => path.startsWith(prefix)));
}
