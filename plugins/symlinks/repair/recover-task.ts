// The task after an interrupted repair: finishes its journal, and removes its temporary links.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { removeLeftLinks } from '../places/left-links.ts';
import { type RawPath, rawMember, rawOf } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import type { TaskRun } from '../tasks/task.ts';
import { Journal } from './journal.ts';

/** The size of two batches: one may have been carried out while the next was being written to the journal. */
const UNFINISHED = 2_000;

export interface RecoverInput {
  /** The path of the undo manifest that is made of the journal. */
  readonly journal: string;
}

/** Resolves with false when there is no journal. */
export async function recover({ journal: file }: RecoverInput, run: TaskRun): Promise<boolean> {
  const journal = Journal.reopen(realPlace(rawOf(file)));
  if (journal === undefined) return false;
  let last: RawPath[] = [];
  for (const change of journal.changes()) {
    last.push(rawMember(change, 'link_path') ?? rawMember(change, 'target_path') ?? '');
    if (last.length > 2 * UNFINISHED) last = last.slice(UNFINISHED);
  }
  let looked = 0;
  run.onBeats(() => looked);
  for (const directory of new Set(last.map(link => path.posix.dirname(link)))) {
    removeLeftLinks(directory, run.id);
    looked += 1;
    // Any directory may be slow, and the host must hear that this process is alive.
    await turn();
  }
  journal.finish();
  return true;
}
