// Where paths really lead, and which places belong to the machine.
import { realpath } from 'node:fs/promises';
import path from 'node:path';

const SYSTEM = [
  '/etc',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/boot',
  '/root',
  '/run',
  '/proc',
  '/sys',
  '/dev',
];

/** Nothing of a service is made, read or written there, whatever a block names. `place`: with all links resolved. */
export function isSystemPath(place: string): boolean {
  return SYSTEM.some(directory => place === directory || place.startsWith(`${directory}/`));
}

/** Where a path leads that may not exist yet: what there is of it is resolved. */
export async function realPlaceOf(place: string): Promise<string> {
  const parent = path.dirname(place);
  if (parent === place) return place;
  return realpath(place).catch(async () => path.join(await realPlaceOf(parent), path.basename(place)));
}
