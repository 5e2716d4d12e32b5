// Refuses, while authentication is off, to change a file that decides what a service with a user of its own reads or
// runs.
import path from 'node:path';
import { type Host, type NamedBlock, Problem } from '#core';
import { blockUser } from '#kit/block-user';
import { localPlaces } from '#kit/local-place';
import { isBelow } from '#kit/path-below';
import { isObject } from '#kit/plain-object';
import { servicePlaces } from '#kit/service-directory';
import { realPlaceOf } from '#kit/system-paths';
import type {} from '../services/contract.ts';

/** Options that name what the service reads or runs: a path, or paths in lists and objects. */
const OPTIONS = ['config_dir', 'config_file', 'env_copy', 'command'];

/**
 * `file` is a real path. Throws a Problem 403, while authentication is off, when a block with a user of its own names
 * it or a directory above it.
 */
export async function guardFile(host: Host, file: string): Promise<void> {
  if (host.find('access')?.enabled() === true) return;
  const { configDir } = host.paths;
  const isLocal = await localPlaces();
  // The links of a mount that may not answer are not resolved.
  const realPlace = async (place: string): Promise<string> => ((await isLocal(place)) ? realPlaceOf(place) : place);
  const hostDir = await realPlace(configDir);
  const store = host.use('config.store');
  for (const other of store.blocks()) {
    const user = userOf(host, other);
    if (user === undefined) continue;
    const { processName, block } = other;
    const named = OPTIONS.flatMap(option => textsIn(block[option])).filter(text => path.isAbsolute(text));
    const { usual, alone } = servicePlaces(configDir, processName);
    const files = store.blockMarks(other).programFiles.flatMap(key => textsIn(block[key]));
    for (const name of [usual ?? alone, alone, ...files, ...named]) {
      const place = await realPlace(path.resolve(configDir, name));
      // A directory that holds the host's own does not count, because every service has its directories in there.
      if (file !== place && (isIn(hostDir, place) || !isBelow(file, place))) continue;
      throw new Problem(
        403,
        `${file} belongs to ${processName}, which runs as user ${user}, and cannot be changed while authentication is ` +
          'off; switch it on, or edit the file on the machine',
      );
    }
  }
}

function userOf(host: Host, { configKey, block }: NamedBlock): string | undefined {
  const templates = host.find('service.templates');
  const template = templates?.get(configKey);
  return blockUser(block, template && templates?.block(template));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.split(/\s+/)].filter(Boolean);
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function isIn(place: string, directory: string): boolean {
  return place === directory || isBelow(place, directory);
}
