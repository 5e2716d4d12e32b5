// The block of the process that a request names.
import type { ConfigStore, NamedBlock } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { unknownProcess } from './unknown-process.ts';

/** Throws a Problem: 400 for a blank name, 404 for one that the configuration does not have. */
export function requestedBlock(store: Pick<ConfigStore, 'findBlock'>, processName: string): NamedBlock {
  if (processName.trim() === '') throw new Problem(400, 'process_name is required');
  const block = store.findBlock(processName);
  if (block === undefined) throw unknownProcess(processName);
  return block;
}
