// The task after a run was cut off: ends its journal, and removes the temporary links that it was about to rename.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { HeldDirectory } from '../places/held-directory.ts';
import { type RawPath, rawMember, rawOf } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import { isTemporaryName } from '../places/temporary-name.ts';
import type { TaskRun } from '../tasks/task.ts';
import { Journal } from './journal.ts';

/** Two batches: one is carried out while the next is written down. */
const UNFINISHED = 2_000;

export interface RecoverInput {
  /** Where the manifest is to be. */
  readonly journal: string;
}

export async function recover({ journal: file }: RecoverInput, run: TaskRun): Promise<null> {
  const journal = Journal.reopen(realPlace(rawOf(file)));
  if (journal === undefined) return null;
  let last: RawPath[] = [];
  for (const change of journal.changes()) {
    last.push(rawMember(change, 'link_path') ?? rawMember(change, 'target_path') ?? '');
    if (last.length > 2 * UNFINISHED) last = last.slice(UNFINISHED);
  }
  for (const directory of new Set(last.map(link => path.posix.dirname(link)))) removeTemporary(directory, run.id);
  journal.finish();
  return null;
}

function removeTemporary(shown: RawPath, runId: string): void {
  let directory: HeldDirectory;
  try {
    directory = HeldDirectory.open(realPlace(shown));
  } catch {
    // What cannot be opened holds nothing that could be removed.
    return;
  }
  try {
    for (const name of readdirSync(directory.at('.'), { encoding: 'latin1' }))
      if (isTemporaryName(name, runId) && directory.entry(name)?.isSymbolicLink() === true) directory.remove(name);
  } finally {
    directory.close();
  }
}
