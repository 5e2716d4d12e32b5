// The task that looks whether a snapshot was completed by a run of which no more is known than when it began.
import { Problem } from '#core';
import { Manifest } from '../manifest/manifest-reader.ts';

const MS_PER_S = 1_000;

export interface MadeInput {
  /** The path of the manifest. */
  readonly manifest: string;
  readonly processName: string;
  /** When the run began, in milliseconds since the epoch. */
  readonly startedAt: number;
}

/** null when the run did not complete it. */
export type MadeResult = { readonly createdAt: string; readonly entries: number } | null;

export async function findMade({ manifest: file, processName, startedAt }: MadeInput): Promise<MadeResult> {
  const manifest = openManifest(file);
  if (manifest === null) return null;
  try {
    const { header, total } = manifest;
    if (header.type !== 'symlink_snapshot' || header.processName !== processName) return null;
    const { createdAt } = header;
    const createdMs = Date.parse(createdAt ?? '');
    // An earlier run may have written a file of the same name, and others may write to its directory. Times of
    // manifests have whole seconds.
    const isOfRun = createdMs >= Math.floor(startedAt / MS_PER_S) * MS_PER_S && createdMs <= Date.now();
    return createdAt !== null && isOfRun ? { createdAt, entries: total } : null;
  } finally {
    manifest.close();
  }
}

function openManifest(file: string): Manifest | null {
  try {
    return Manifest.open(file);
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
