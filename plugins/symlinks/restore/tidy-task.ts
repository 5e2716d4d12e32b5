// The task after an interrupted restore: removes its temporary links.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Problem } from '#core';
import { Manifest } from '../manifest/manifest-reader.ts';
import { removeLeftLinks } from '../places/left-links.ts';
import type { RawPath } from '../places/raw-path.ts';
import type { TaskRun } from '../tasks/task.ts';
import { pathsOf } from './decision.ts';

export interface TidyInput {
  readonly manifestPath: string;
}

/** Resolves with false when there is no such manifest. */
export async function tidyRestore({ manifestPath }: TidyInput, run: TaskRun): Promise<boolean> {
  const manifest = openManifest(manifestPath);
  if (manifest === undefined) return false;
  try {
    // The last directory by the index of the path in its item: links of one directory follow each other.
    const last: RawPath[] = [];
    let looked = 0;
    run.onBeats(() => looked);
    for (const item of manifest.items()) {
      for (const [index, link] of (item === null ? [] : pathsOf(item)).entries()) {
        const directory = path.posix.dirname(link);
        if (last[index] === directory) continue;
        last[index] = directory;
        removeLeftLinks(directory, run.id);
        looked += 1;
        // Any directory may be slow, and the host must hear that this process is alive.
        await turn();
      }
    }
    return true;
  } finally {
    manifest.close();
  }
}

function openManifest(file: string): Manifest | undefined {
  try {
    return Manifest.open(file);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}
