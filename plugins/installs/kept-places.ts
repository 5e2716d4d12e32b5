// The places in a folder that stay when a release is swapped: those that the user has excluded, and files of services.
import path from 'node:path';
import type { NamedBlock } from '#core';
import type { OwnTarget } from './install-target.ts';
import type { KeptPlaces } from './swap.ts';

/** Options that name files and directories of a service, which are never parts of a release. */
const OWN_PLACES = ['config_dir', 'config_file', 'log_file', 'access_log_file'];

/** A folder that is itself excluded, or is within an excluded one, is not cleared. */
export function keptPlaces(
  { block: { block }, built, ownFolders = '' }: OwnTarget,
  directory: string,
  blocks: readonly NamedBlock[],
): KeptPlaces {
  const excluded = textsIn(block.exclude_dirs).map(place => path.relative(directory, path.resolve(directory, place)));
  const own = blocks
    .flatMap(other => OWN_PLACES.flatMap(option => textsIn(other.block[option])))
    .filter(place => path.isAbsolute(place))
    .map(place => path.relative(directory, place));
  const isOutside = (place: string): boolean => place === '' || place.split('/', 1)[0] === '..';
  const isAbove = (place: string): boolean => place.split('/').every(part => part === '' || part === '..');
  return {
    keeps: new Set(
      [...excluded.filter(place => !built.includes(place)), ...own, ownFolders].filter(place => !isOutside(place)),
    ),
    clears: block.clear_on_update === true && !excluded.some(isAbove),
  };
}

/** What one of both keeps stays, and the folder is cleared only when both say so. */
export function joinedPlaces(one: KeptPlaces, other: KeptPlaces): KeptPlaces {
  return { keeps: new Set([...one.keeps, ...other.keeps]), clears: one.clears && other.clears };
}

function textsIn(value: unknown): string[] {
  return [value].flat().filter(text => typeof text === 'string' && text !== '') as string[];
}
