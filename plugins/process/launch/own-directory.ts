// The working directory of a service whose block names none: never that of the host, which may hold anything, and never
// that of another service. Of several services whose names have the same slug, the first one to use the directory keeps
// it, as is recorded beside it.
import path from 'node:path';
import type { Host, NamedBlock } from '#core';
import { lacksDescriptors } from '#kit/descriptors';
import { recordedOwner, recordOwner } from '#kit/directory-owners';
import { GuardedDirectory } from '#kit/guarded-directory';
import { servicePlaces } from '#kit/service-directory';
import { slugOf } from '#kit/slug';
import type { LaunchPlan } from '../contract.ts';

/** The directory of a service whose own one cannot be made, or not be reached by its user. */
export const FALLBACK = '/';

interface Stack {
  readonly host: Host;
  blocks(): readonly NamedBlock[];
}

/**
 * A directory below `{configDir}/services`, made for the service's user, or FALLBACK when it cannot be made. Throws
 * when no descriptor is left.
 */
export async function ownDirectory({ processName, user }: LaunchPlan, stack: Stack): Promise<string> {
  const { log } = stack.host;
  try {
    const directory = await chosenDirectory(processName, stack);
    (await GuardedDirectory.open(directory, { mode: 0o750, owner: user })).close();
    return directory;
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    log.warn(`${processName} runs in ${FALLBACK}, because it gets no directory of its own`, error);
    return FALLBACK;
  }
}

async function chosenDirectory(processName: string, { host, blocks }: Stack): Promise<string> {
  const { usual, alone } = servicePlaces(host.paths.configDir, processName);
  // The directory above stays the host's, so that nobody else makes directories there.
  const place = await GuardedDirectory.open(path.dirname(alone), {});
  try {
    if (usual === null) return alone;
    const slug = path.basename(usual);
    const owner = await recordedOwner(place, slug);
    if (owner === processName) return usual;
    // The service had to use this directory once, and its data is there.
    if ((await place.stat(path.basename(alone))) !== null) return alone;
    const sharing = namesBySlug(blocks()).get(slug) ?? [processName];
    const entitled = owner !== null && sharing.includes(owner) ? owner : firstOf(sharing, slug);
    if (entitled !== processName) {
      host.log.info(`${processName} runs in ${alone}, because ${usual} is that of ${entitled}`);
      return alone;
    }
    await recordOwner(place, slug, processName).catch((error: unknown) => {
      if (lacksDescriptors(error)) throw error;
      host.log.warn(`it could not be recorded that ${usual} is that of ${processName}`, error);
    });
    return usual;
  } finally {
    place.close();
  }
}

/** Names by slug for the latest list of blocks. Each change of the configuration makes a new list. */
let known:
  | { readonly blocks: readonly NamedBlock[]; readonly names: ReadonlyMap<string, readonly string[]> }
  | undefined;

/** The services that run in directories of their own. */
function namesBySlug(blocks: readonly NamedBlock[]): ReadonlyMap<string, readonly string[]> {
  if (known?.blocks === blocks) return known.names;
  const names = new Map<string, string[]>();
  for (const { isHost, processName, block } of blocks) {
    if (isHost || (typeof block.config_dir === 'string' && block.config_dir !== '')) continue;
    const slug = slugOf(processName);
    names.set(slug, [...(names.get(slug) ?? []), processName]);
  }
  known = { blocks, names };
  return names;
}

/**
 * The name that is its own slug, else the first in alphabetical order: the same whatever their order in the
 * configuration.
 */
function firstOf(names: readonly string[], slug: string): string | undefined {
  return names.includes(slug) ? slug : [...names].sort()[0];
}
