// Finds the processes that an update wants disabled, also where their blocks say so already and nothing changes.
import type { ConfigObject, NamedBlock } from '#core';
import { valueAt } from '#kit/value-at';

/** `updates` are those of the root, or of the block of `processName`. */
export function switchedOff(
  updates: ConfigObject,
  processName: string | undefined,
  blocks: readonly NamedBlock[],
): string[] {
  if (processName !== undefined) return updates.enabled === false ? [processName] : [];
  const isOff = ({ path }: NamedBlock) => valueAt(updates, [...path, 'enabled']) === false;
  return blocks.filter(isOff).map(({ processName: name }) => name);
}
