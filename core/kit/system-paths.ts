// Resolves paths that may not exist yet, and tells which of them belong to the operating system.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { requireAnswer } from './answering.ts';

const SYSTEM_DIRECTORIES = [
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

/**
 * Whether a path is a system directory or lies below one. The host creates, reads and writes nothing of a service
 * there, whatever its block names. `place` must be a real path, with all links resolved.
 */
export function isSystemPath(place: string): boolean {
  return SYSTEM_DIRECTORIES.some(directory => place === directory || place.startsWith(`${directory}/`));
}

/**
 * The real path of something that may not exist yet: the links in the part that exists are resolved. Throws a Problem
 * 503 for a mount that does not answer.
 */
export async function realPlaceOf(place: string): Promise<string> {
  await requireAnswer([place]);
  return resolved(place);
}

async function resolved(place: string): Promise<string> {
  const parent = path.dirname(place);
  if (parent === place) return place;
  return realpath(place).catch(async () => path.join(await resolved(parent), path.basename(place)));
}
