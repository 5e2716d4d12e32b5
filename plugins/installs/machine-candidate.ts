// A release that goes into the machine itself, as packages do: it is fetched when it takes its place.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Problem } from '#core';
import { fileVersions } from '#kit/fs-out-of-process';
import type { InstallCandidate } from './contract.ts';
import type { FolderRecords } from './folder-records.ts';
import { checkRuntimes, fetchRelease, latestRelease, type PreparationOptions } from './release-preparation.ts';

const MS_PER_S = 1_000;

/** Throws a Problem when its source does not answer. */
export async function machineCandidate(
  preparation: PreparationOptions,
  records: FolderRecords,
  place: string,
): Promise<InstallCandidate> {
  await checkRuntimes(preparation);
  const { version } = await latestRelease(preparation);
  return {
    version,
    swap: async () => {
      const fetched = await fetchInto(preparation);
      const [markers = []] = preparation.target.layouts;
      const found = await fileVersions(markers);
      const missing = markers.find(marker => !found.has(marker));
      if (missing !== undefined)
        throw new Problem(
          502,
          `the release ${fetched} has no ${missing}, without which it cannot run; choose another release`,
        );
      const { installed } = records.of(place);
      await records.save({
        directory: place,
        user: null,
        installed: { version: fetched, installedAt: Math.floor(Date.now() / MS_PER_S) },
        previous: installed && { ...installed, kept: null },
        swap: null,
      });
    },
    discard: async () => undefined,
  };
}

async function fetchInto(preparation: PreparationOptions): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-install-'));
  try {
    const { version } = await fetchRelease(preparation, { into: directory, downloads: directory });
    return version;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
