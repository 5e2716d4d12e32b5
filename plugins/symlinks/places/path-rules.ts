// What a path of a request or a manifest must be before anything is looked at: absolute, normalised, and no place of
// the system or of this product. `real-places.ts` repeats the last on the disk.
import path from 'node:path';
import { Problem } from '#core';

const MAX_BYTES = 4_096;
/** Of one name in a path. */
const MAX_NAME_BYTES = 255;
/** Of a path in a sentence, in characters. */
const MAX_NAMED = 200;
const PROTECTED = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'usr'].map(
  name => `/${name}`,
);
/** What clients write for the configuration directory, wherever it is. */
const CONFIG_ALIAS = '/config/';

/** The places of one host that the rules speak of. */
export interface Places {
  readonly configDir: string;
  /** Where manifests and reports lie: the one place that is allowed wherever it is. */
  readonly stateDir: string;
  /** Where the product itself lies. What it is configured to keep in one of them is not part of it. */
  readonly installDirs: readonly string[];
}

export function placesOf(configDir: string, installDirs: readonly string[]): Places {
  return { configDir, stateDir: path.join(configDir, 'symlink-repair'), installDirs };
}

export function snapshotDir({ stateDir }: Places): string {
  return path.join(stateDir, 'snapshots');
}

/** What the schedule knows of the last backups: beside the manifests, but none. */
export function scheduleFile({ stateDir }: Places): string {
  return path.join(stateDir, 'schedule.json');
}

export function repairManifestDir({ stateDir }: Places): string {
  return path.join(stateDir, 'repair-manifests');
}

/** What a root is called in sentences. */
export function rootNamed(root: string): string {
  return `The root ${root.length > MAX_NAMED ? `${root.slice(0, MAX_NAMED)}...` : root}`;
}

/**
 * The normalised path. `what` names it in sentences, for example `The root`. Throws a Problem 400 for one that breaks a
 * rule.
 */
export function checkedPath(text: string, what: string, places: Places): string {
  if (text.includes('\0')) throw new Problem(400, `${what} contains a NUL character; remove it.`);
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Problem(400, `${what} is longer than ${MAX_BYTES} bytes; use a shorter path.`);
  if (text.split('/').some(name => Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw new Problem(400, `${what} has a name in it that is longer than ${MAX_NAME_BYTES} bytes; use a shorter one.`);
  if (!path.isAbsolute(text)) throw new Problem(400, `${what} must be an absolute path, such as /mnt/library.`);
  const place = normalised(ofConfigDir(text, places));
  refuseProtected(place, what, places);
  return place;
}

/** Throws a Problem 400 when the path, which is normalised, is one that nothing may change. */
export function refuseProtected(place: string, what: string, places: Places): void {
  if (isProtected(place, places))
    throw new Problem(400, `${what} lies in a protected place of the system or of this product; choose another one.`);
}

export function isProtected(place: string, { configDir, stateDir, installDirs }: Places): boolean {
  if (place === '/') return true;
  if (isAtOrBelow(place, stateDir)) return false;
  if (PROTECTED.some(directory => isAtOrBelow(place, directory))) return true;
  const installed = installDirs.filter(directory => isAtOrBelow(place, directory));
  // A clone has the configuration directory in it, unless another is named.
  const isConfigured = (directory: string): boolean =>
    configDir !== directory && isAtOrBelow(configDir, directory) && isAtOrBelow(place, configDir);
  return installed.some(directory => !isConfigured(directory));
}

/** A path without `//`, `.`, `..` and slashes at its end. */
export function normalised(text: string): string {
  return path.posix.resolve('/', text);
}

export function isAtOrBelow(place: string, directory: string): boolean {
  return place === directory || place.startsWith(directory === '/' ? '/' : `${directory}/`);
}

function ofConfigDir(text: string, { configDir }: Places): string {
  return text.startsWith(CONFIG_ALIAS) ? path.join(configDir, text.slice(CONFIG_ALIAS.length)) : text;
}
