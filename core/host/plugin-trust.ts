// Whether a plugin folder may be loaded: plugins run with all rights of the host, so only root and the host's own user
// may be able to change, replace or add any of their files. What Node would read as code must be a regular file.
import type { Stats } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { distrustOf } from '../kit/trust.ts';

const STICKY = 0o1000;
const BY_GROUP = 0o020;
const MAX_LINKS = 40;
/** Node reads such files when it imports a plugin; `package.json` on the main thread. */
const READ_BY_IMPORTS = /\.(?:[cm]?[jt]s|json)$/;

/** Why the folder is not loaded, with the way to mend it; null when only root and the host's user may write it. */
export async function refusalOfFolder(folder: string): Promise<string | null> {
  const found = await new Search().inside(path.resolve(folder));
  if (found === null) return null;
  if (found.reason === IRREGULAR)
    return `${found.place} ${IRREGULAR}, which would hold up the import for ever; remove it or replace it by a file`;
  const own = process.geteuid?.() === 0 ? 'root' : `user ${process.geteuid?.()}`;
  return `${found.place} ${found.reason}, who could change the plugin; give it to ${own} (chown -R) and take the permission to write from all others (chmod -R go-w)`;
}

const IRREGULAR = 'is no regular file';

interface Finding {
  readonly place: string;
  readonly reason: string;
}

class Search {
  readonly #seen = new Set<string>();
  readonly #waysSeen = new Map<string, Promise<Finding | null>>();

  /** Looks at the way to a place, at the place, and at everything in it. */
  async inside(place: string): Promise<Finding | null> {
    const onTheWay = await this.#wayTo(place, 0);
    if (onTheWay !== null) return onTheWay;
    const real = await realpath(place);
    if (this.#seen.has(real)) return null;
    this.#seen.add(real);
    const entry = await lstat(real);
    if (!entry.isDirectory())
      return entry.isFile() || !READ_BY_IMPORTS.test(place) ? null : { place, reason: IRREGULAR };
    // Others may add files to a sticky directory, so within a plugin, unlike on the way to it, they must not write to
    // it.
    const reason = distrust(entry);
    if (reason !== null) return { place: real, reason };
    for (const member of await readdir(real, { withFileTypes: true })) {
      const inside = path.join(real, member.name);
      const found = await (member.isFile() ? finding(inside) : this.inside(inside));
      if (found !== null) return found;
    }
    return null;
  }

  /** Looks at every directory from the root down to the place, and at those behind each link on that way. */
  #wayTo(place: string, links: number): Promise<Finding | null> {
    const known = this.#waysSeen.get(place) ?? this.#lookAlong(place, links);
    this.#waysSeen.set(place, known);
    return known;
  }

  async #lookAlong(place: string, links: number): Promise<Finding | null> {
    const parent = path.dirname(place);
    if (parent === place) return finding(place);
    const onTheWay = await this.#wayTo(parent, links);
    if (onTheWay !== null) return onTheWay;
    const entry = await lstat(place);
    if (!entry.isSymbolicLink()) return finding(place, entry);
    if (links === MAX_LINKS) return { place, reason: 'is one of too many links' };
    // The mode of a link says nothing; its owner and its directory decide who may replace it.
    const reason = distrust({ uid: entry.uid, mode: 0 });
    if (reason !== null) return { place, reason };
    return this.#wayTo(path.resolve(parent, await readlink(place)), links + 1);
  }
}

/**
 * Why a place on the way to a plugin, or a file in one, cannot be trusted. A sticky directory, such as /tmp, can be:
 * others may add entries, but neither remove nor rename what is not theirs.
 */
async function finding(place: string, known?: Stats): Promise<Finding | null> {
  const entry = known ?? (await lstat(place));
  const isShared = entry.isDirectory() && (entry.mode & STICKY) !== 0;
  const reason = distrust({ uid: entry.uid, mode: isShared ? 0 : entry.mode });
  return reason === null ? null : { place, reason };
}

/** A host that is not root may share its files with its group, as many accounts do. */
function distrust({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): string | null {
  return distrustOf({ uid, mode: process.geteuid?.() === 0 ? mode : mode & ~BY_GROUP });
}
