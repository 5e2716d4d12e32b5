// Names the log of each service whose block names none: after the process, and no name twice.
import path from 'node:path';
import type { NamedBlock } from '#core';
import { ownPlaces } from '#kit/service-directory';
import { logFileOf } from '#kit/service-log';
import { slugOf } from '#kit/slug';

/** Short enough for a file name with the suffixes of rotation. */
const MAX_SLUG_LENGTH = 100;
const HAS_SLUG = /[a-z0-9_]/i;

/** The log files in the order of the blocks; null for the entry of the host, which has its own log. */
export function usualLogFiles(blocks: readonly NamedBlock[], logDir: string): (string | null)[] {
  const taken = new Set(blocks.flatMap(({ block }) => logFileOf(block.log_file, logDir) ?? []));
  return blocks.map(({ block, isHost, processName }) => {
    if (isHost || block.log_file !== undefined) return null;
    const slug = slugOf(processName).slice(0, MAX_SLUG_LENGTH);
    // A slug keeps nothing of some names: they would share one, and inherit each other's logs.
    const isTelling = HAS_SLUG.test(processName);
    const base = isTelling ? path.join(logDir, slug) : ownPlaces(logDir, slug, processName).alone;
    let file = `${base}.log`;
    for (let count = 2; taken.has(file); count += 1) file = `${base}_${count}.log`;
    taken.add(file);
    return file;
  });
}
