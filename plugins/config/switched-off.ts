// Finds the processes that an update disables, including those whose blocks were disabled already.
import type { ConfigObject, NamedBlock } from '#core';
import { valueAt } from '#kit/value-at';

/** `updates` apply to the block of `processName`, or to the whole configuration when that is undefined. */
export function switchedOff(
  updates: ConfigObject,
  processName: string | undefined,
  blocks: readonly NamedBlock[],
): string[] {
  if (processName !== undefined) return updates.enabled === false ? [processName] : [];
  const isOff = ({ path }: NamedBlock) => valueAt(updates, [...path, 'enabled']) === false;
  return blocks.filter(isOff).map(({ processName: name }) => name);
}
