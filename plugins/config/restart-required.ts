// Which changed values act only after a restart that somebody has to make.
import type { NamedBlock } from '#core';
import type { ProcessSupervisor } from '../process/contract.ts';

/** Of paths that do not act at once those of this host, and those of services that run. */
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
