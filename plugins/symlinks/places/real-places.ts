// Checks real paths on the disk, in the child process: any part of a path may be a link to a protected place.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { Problem } from '#core';
import { type Places, refuseProtected } from './path-rules.ts';
import { diskPath, type RawPath, rawOf, shownPath } from './raw-path.ts';

const HEAD_BYTES = 65_536;
const BLOCKED = new Set(['ENOTDIR', 'ELOOP']);
const KNOWN_TYPE = /"manifest_type"\s*:\s*"symlink_(?:snapshot|repair)"/;
const ENTRIES = /"(?:entries|changes)"\s*:\s*\[\s*(?:\]|\{[^{}]*"(?:link_path|source_path)"\s*:)/;

/** The real path of a place that may not exist: links in the part that exists are resolved. */
export function realPlace(raw: RawPath): RawPath {
  try {
    return realpathSync.native(diskPath(raw), 'latin1');
  } catch (error) {
    const parent = path.posix.dirname(raw);
    if (parent === raw) throw error;
    return path.posix.join(realPlace(parent), path.posix.basename(raw));
  }
}

/** The real path of a place that may be used. Throws a Problem 400 for a protected one. */
export function allowedPlace(raw: RawPath, what: string, places: Places): RawPath {
  const real = realPlace(raw);
  refuseProtected(shownPath(real), what, realPlaces(places));
  return real;
}

/** The places with the links in their paths resolved. */
export function realPlaces({ configDir, stateDir, installDirs }: Places): Places {
  const realOf = (place: string): string => shownPath(realPlace(rawOf(place)));
  return { configDir: realOf(configDir), stateDir: realOf(stateDir), installDirs: installDirs.map(realOf) };
}

/** The directory to which a path leads; undefined when there is none. */
export function directoryAt(raw: RawPath): RawPath | undefined {
  try {
    return statSync(diskPath(raw)).isDirectory() ? realpathSync.native(diskPath(raw), 'latin1') : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the path is a directory, or nothing exists there. */
export function isDirectoryOrFree(raw: RawPath): boolean {
  return entryAt(raw) === undefined || directoryAt(raw) !== undefined;
}

/** `blocked` means that nothing can exist there, because the path leads through a file or a circular link. */
function entryAt(raw: RawPath): Stats | 'blocked' | undefined {
  try {
    return lstatSync(diskPath(raw), { throwIfNoEntry: false });
  } catch (error) {
    if (BLOCKED.has((error as NodeJS.ErrnoException).code ?? '')) return 'blocked';
    throw error;
  }
}

/**
 * Throws a Problem 400 unless a manifest may be written there: the file must end in `.json` and be in an allowed place,
 * and it must not exist yet, be empty, or be an earlier manifest.
 */
export function checkManifestPlace(file: string, what: string, places: Places): void {
  if (!file.endsWith('.json')) throw new Problem(400, `${what} must end in .json.`);
  const raw = rawOf(file);
  allowedPlace(raw, what, places);
  const entry = entryAt(raw);
  if (entry === undefined) return;
  if (entry === 'blocked')
    throw new Problem(400, `A part of the path of ${what} is no directory; choose another place.`);
  if (!isReplaceable(entry, file))
    throw new Problem(400, `${what} exists and is no symlink manifest; choose another name.`);
}

/** Whether a manifest may replace the entry: an empty file, or an earlier manifest. */
export function isReplaceable(entry: Stats, place: string | Buffer): boolean {
  return entry.isFile() && (entry.size === 0 || isManifest(headOf(place)));
}

function isManifest(head: string): boolean {
  return /^\s*\{/.test(head) && (KNOWN_TYPE.test(head) || ENTRIES.test(head));
}

function headOf(file: string | Buffer): string {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) return '';
    const head = Buffer.alloc(HEAD_BYTES);
    return head.toString('utf8', 0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
