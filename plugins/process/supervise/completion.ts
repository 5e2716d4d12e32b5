// Remembers for later hosts that a one-shot service has done its work, until the machine is started anew.
import type { NamedBlock } from '#core';
import type { ExitRecord } from '../contract.ts';
import { digestOf } from '../launch/block-digest.ts';
import { exitRecordOf } from './exit-record.ts';
import { bootId } from './proc-stat.ts';
import type { StateFile } from './state-file.ts';

export function keepCompletion(state: StateFile, processName: string, at: number, blockDigest: string): void {
  state.setCompleted(processName, { at, boot_id: bootId, block_digest: blockDigest });
}

/** undefined when the work has not been done, or was done by another version of the block. */
export function keptCompletion(state: StateFile, { processName, block }: NamedBlock): ExitRecord | undefined {
  const known = state.completed(processName);
  if (known?.boot_id !== bootId || known.block_digest !== digestOf(block)) return undefined;
  return { ...exitRecordOf({ code: 0, signal: null }, false, true), at: known.at };
}
