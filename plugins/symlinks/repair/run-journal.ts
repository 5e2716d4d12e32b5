// Where the journal of a run lies, for the run itself and for whoever looks for what it has left.
import path from 'node:path';
import { type Places, repairManifestDir } from '../places/path-rules.ts';

/** A run for which nobody wants an undo manifest has one all the same until it ends in order. */
export function journalPlace(backupPath: string | null, places: Places, runId: string): string {
  return backupPath ?? path.join(repairManifestDir(places), `interrupted-${runId}.json`);
}
