// What an earlier host left behind, while this one ends it.
import type { NamedBlock } from '#core';
import { askAgain } from '#kit/ask-again';
import { mayListen } from '#kit/port-holder';
import { type Companion, portsClaimedBy } from '../launch/ports.ts';
import { launchedAs, targetOf } from './launch-record.ts';
import type { ProcessRecord } from './state-file.ts';
import { survivorsAside } from './stop.ts';

/** The age that a process table may have, so that several leftovers share one. */
const TABLE_MAX_AGE_MS = 500;

export interface Leftover {
  readonly block: NamedBlock;
  readonly record: ProcessRecord;
  /** Resolves when it has ended, or cannot be ended. */
  readonly gone: Promise<void>;
}

/** Whether one of the ports is in its entry, or one of its processes listens there, as far as the kernel tells. */
export async function mayHold(
  { block, record }: Leftover,
  ports: readonly number[],
  companion: Companion,
): Promise<boolean> {
  if (portsClaimedBy(block, companion).some(port => ports.includes(port))) return true;
  const target = targetOf(block.processName, { ...record, ...launchedAs(record) });
  const pids = (await askAgain(() => survivorsAside(target, TABLE_MAX_AGE_MS))).map(({ pid }) => pid);
  return (await Promise.all(ports.map(port => mayListen(pids, port)))).includes(true);
}
