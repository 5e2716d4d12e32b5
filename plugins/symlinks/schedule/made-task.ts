// The task that looks whether a snapshot was completed by a run of which no more is known than when it began.
import { Problem } from '#core';
import { Manifest } from '../manifest/manifest-reader.ts';
import { timeOf } from '../manifest/time-stamp.ts';

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
    // An earlier run may have written a file of the same name. Both texts have the same form, so they sort by time.
    if (header.createdAt === null || header.createdAt < timeOf(new Date(startedAt))) return null;
    return { createdAt: header.createdAt, entries: total };
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
