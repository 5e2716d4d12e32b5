// The path of the journal of a run, for the run itself and for its recovery.
import path from 'node:path';
import { type Places, repairManifestDir } from '../places/path-rules.ts';

/** A run without a wanted undo manifest has a journal too, until it ends in order. */
export function journalPlace(backupPath: string | null, places: Places, runId: string): string {
  return backupPath ?? path.join(repairManifestDir(places), `interrupted-${runId}.json`);
}
