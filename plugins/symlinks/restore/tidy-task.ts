// The task after a restore was cut off: removes the temporary links that it was about to rename.
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Manifest } from '../manifest/manifest-reader.ts';
import { removeLeftLinks } from '../places/left-links.ts';
import type { RawPath } from '../places/raw-path.ts';
import type { TaskRun } from '../tasks/task.ts';
import { pathsOf } from './decision.ts';

/** Directories between two turns of the event loop, in which the host hears that this lives. */
const STRIDE = 64;

export interface TidyInput {
  readonly manifestPath: string;
}

export async function tidyRestore({ manifestPath }: TidyInput, run: TaskRun): Promise<null> {
  const manifest = Manifest.open(manifestPath);
  try {
    // Of each list of paths the last directory, because links of one directory stand together.
    const last: RawPath[] = [];
    let looked = 0;
    for (const item of manifest.items()) {
      for (const [index, link] of (item === null ? [] : pathsOf(item)).entries()) {
        const directory = path.posix.dirname(link);
        if (last[index] === directory) continue;
        last[index] = directory;
        removeLeftLinks(directory, run.id);
        looked += 1;
        if (looked % STRIDE === 0) await turn();
      }
    }
    return null;
  } finally {
    manifest.close();
  }
}
