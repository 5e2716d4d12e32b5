// The rules for paths of requests and manifests, checked without looking at the disk: absolute, normalised, and not a
// protected place of the system or of this product. `real-places.ts` checks the last rule again for real paths.
import path from 'node:path';
import { Problem } from '#core';

const MAX_BYTES = 4_096;
/** The limit of one name in a path. */
const MAX_NAME_BYTES = 255;
/** How many characters of a path a sentence shows. */
const MAX_NAMED = 200;
const PROTECTED = ['bin', 'boot', 'dev', 'etc', 'lib', 'lib64', 'proc', 'root', 'run', 'sbin', 'sys', 'usr'].map(
  name => `/${name}`,
);
/** The prefix by which clients name the configuration directory, wherever it is. */
const CONFIG_ALIAS = '/config/';

/** The directories of a host to which the rules refer. */
export interface Places {
  readonly configDir: string;
  /** The directory of manifests and reports, which is allowed wherever it is. */
  readonly stateDir: string;
  /** The directories of the product itself. A configuration directory within one of them is not protected. */
  readonly installDirs: readonly string[];
}

export function placesOf(configDir: string, installDirs: readonly string[]): Places {
  return { configDir, stateDir: path.join(configDir, 'symlink-repair'), installDirs };
}

export function snapshotDir({ stateDir }: Places): string {
  return path.join(stateDir, 'snapshots');
}

/** The file with the state of scheduled backups. It lies beside the manifests but is not one. */
export function scheduleFile({ stateDir }: Places): string {
  return path.join(stateDir, 'schedule.json');
}

export function repairManifestDir({ stateDir }: Places): string {
  return path.join(stateDir, 'repair-manifests');
}

/** The name of a root in sentences. */
export function rootNamed(root: string): string {
  return `The root ${root.length > MAX_NAMED ? `${root.slice(0, MAX_NAMED)}...` : root}`;
}

/**
 * The normalised path. `what` names it in sentences, for example `The root`. Throws a Problem 400 for a path that
 * breaks a rule.
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

/** Throws a Problem 400 when the normalised path is protected. */
export function refuseProtected(place: string, what: string, places: Places): void {
  if (isProtected(place, places))
    throw new Problem(400, `${what} lies in a protected place of the system or of this product; choose another one.`);
}

export function isProtected(place: string, { configDir, stateDir, installDirs }: Places): boolean {
  if (place === '/') return true;
  if (isAtOrBelow(place, stateDir)) return false;
  if (PROTECTED.some(directory => isAtOrBelow(place, directory))) return true;
  const installed = installDirs.filter(directory => isAtOrBelow(place, directory));
  // By default the configuration directory lies in the clone of the product that runs.
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
