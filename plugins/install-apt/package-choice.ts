// Chooses the packages of one version of a program, with the packages of the same repository that they depend on.
import { Problem } from '#core';
import { compareVersions } from './debian-version.ts';
import type { PackageEntry } from './package-index.ts';

export interface PackageChoice {
  /** The version of the first package. */
  readonly version: string;
  readonly packages: readonly PackageEntry[];
  /** How many newer versions than the installed one there are; null when that is unknown or a version is pinned. */
  readonly releasesBehind: number | null;
}

export interface Choosing {
  readonly names: readonly string[];
  /** The wanted version; undefined for the newest. */
  readonly pinned: string | undefined;
  readonly installed: string | null;
  /** The host of the repository, for messages. */
  readonly host: string;
}

/** Throws a Problem that names what the repository lacks. */
export function choosePackages(entries: readonly PackageEntry[], choosing: Choosing): PackageChoice {
  const { names, pinned, installed, host } = choosing;
  const [main = ''] = names;
  const versions = sorted(entries.filter(({ name }) => name === main));
  const [first] = pinned === undefined ? versions : versions.filter(({ version }) => isVersion(version, pinned));
  if (first === undefined) throw lacking(host, main, pinned, versions);
  const chosen = new Map<string, PackageEntry>();
  for (const name of names) {
    const same = entries.find(entry => entry.name === name && entry.version === first.version);
    if (same === undefined)
      throw lacking(host, name, first.version, sorted(entries.filter(entry => entry.name === name)));
    chosen.set(name, same);
  }
  addNeeded(chosen, entries);
  const behind = versions.findIndex(({ version }) => version === installed);
  return {
    version: first.version,
    packages: [...chosen.values()],
    releasesBehind: behind < 0 || pinned !== undefined ? null : behind,
  };
}

/** Adds dependencies that the repository has; apt-get finds the others in the machine's own sources. */
function addNeeded(chosen: Map<string, PackageEntry>, entries: readonly PackageEntry[]): void {
  // The map grows during the iteration, so that dependencies of dependencies are added, too.
  for (const { needs } of chosen.values())
    for (const alternatives of needs) {
      if (alternatives.some(name => chosen.has(name))) continue;
      const name = alternatives.find(wanted => entries.some(entry => entry.name === wanted));
      const [newest] = sorted(entries.filter(entry => entry.name === name));
      if (newest !== undefined) chosen.set(newest.name, newest);
    }
}

function sorted(entries: readonly PackageEntry[]): PackageEntry[] {
  return [...entries].sort((a, b) => compareVersions(b.version, a.version));
}

/** Users may leave out the suffix that Debian adds to a version, such as `-1` or `+deb12`. */
function isVersion(version: string, pinned: string): boolean {
  return version === pinned || ['+', '-'].some(sign => version.startsWith(`${pinned}${sign}`));
}

function lacking(host: string, name: string, version: string | undefined, versions: readonly PackageEntry[]): Problem {
  const wanted = version === undefined ? name : `${name} ${version}`;
  const some = versions.slice(0, 5).map(entry => entry.version);
  const has = some.length === 0 ? '' : ` (it has ${some.join(', ')}${versions.length > some.length ? ' ...' : ''})`;
  const status = version === undefined ? 502 : 400;
  return new Problem(status, `${host} does not have ${wanted}${has}; correct pinned_version, or leave it blank`);
}
