// Removes older manifests of a schedule after a new one is written, unless the new one looks as if a disk was missing.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { errorText } from '#kit/error-text';
import { GuardedDirectory } from '#kit/guarded-directory';
import { Manifest } from '../manifest/manifest-reader.ts';
import { stampOf } from '../manifest/time-stamp.ts';
import type { TaskRun } from '../tasks/task.ts';
import { listManifests } from './list-task.ts';
import { ManifestName, type NameInput } from './manifest-name.ts';

const MS_PER_S = 1_000;

export interface PruneInput {
  readonly name: NameInput;
  /** How many manifests are kept; 0 keeps all. */
  readonly keep: number;
  /** The path of the new manifest; the members below are results of its backup. */
  readonly manifest: string;
  readonly entries: number;
  readonly errors: number;
  readonly missingRoots: readonly string[];
}

export interface PruneResult {
  readonly pruned: readonly string[];
  readonly errors: readonly string[];
  /** Why nothing was removed, although there was something to remove. */
  readonly warning: string | null;
}

export async function prune(input: PruneInput, run: TaskRun): Promise<PruneResult> {
  const older = input.keep === 0 ? [] : (await olderManifests(input, run)).slice(input.keep - 1);
  if (older.length === 0) return { pruned: [], errors: [], warning: null };
  const doubt = doubtOf(input, older);
  if (doubt !== null) return { pruned: [], errors: [], warning: `Older manifests are kept, because ${doubt}` };
  const pruned: string[] = [];
  const errors: string[] = [];
  for (const { file } of older) {
    try {
      await GuardedDirectory.remove(file);
      pruned.push(file);
    } catch (error) {
      errors.push(`${file}: ${errorText(error)}`);
    }
  }
  return { pruned, errors, warning: null };
}

interface OlderManifest {
  readonly file: string;
  readonly entries: number;
}

/** The other manifests of this schedule, newest first, without files that are not manifests of this process. */
async function olderManifests(input: PruneInput, run: TaskRun): Promise<OlderManifest[]> {
  const { manifest } = input;
  const name = new ManifestName(input.name);
  const files = await listManifests(input.name);
  const dated = files
    .filter(file => file.path !== manifest)
    .map(file => ({ file: file.path, time: name.timeIn(file.name) ?? stampOf(new Date(file.modified_at * MS_PER_S)) }))
    .sort((a, b) => (a.time < b.time ? 1 : -1));
  const older: OlderManifest[] = [];
  let looked = 0;
  run.onBeats(() => looked);
  for (const { file } of dated) {
    const entries = entriesOf(file, input.name.processName);
    if (entries !== undefined) older.push({ file, entries });
    looked += 1;
    // Each is read as a whole, and the host must hear that this process is alive.
    await turn();
  }
  return older;
}

function entriesOf(file: string, processName: string): number | undefined {
  try {
    const manifest = Manifest.open(file);
    const { header, total } = manifest;
    manifest.close();
    const isOwn = header.processName === null || header.processName === processName;
    return isOwn && header.type === 'symlink_snapshot' ? total : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Why older manifests should not be removed; null when they may be. Compares with all of them, because two incomplete
 * backups in a row must not remove the last good manifest.
 */
function doubtOf({ entries, errors, missingRoots }: PruneInput, older: readonly OlderManifest[]): string | null {
  if (entries === 0) return 'the new one has no entries';
  if (missingRoots.length > 0) return `roots were missing: ${missingRoots.join(', ')}`;
  if (errors > 0) return `the backup had ${errors} errors`;
  const largest = older.reduce((a, b) => (b.entries > a.entries ? b : a));
  if (entries * 2 >= largest.entries) return null;
  return (
    `the new one has ${entries} entries and ${path.basename(largest.file)} has ${largest.entries}; ` +
    'remove that one by hand if the library is meant to be so small'
  );
}
