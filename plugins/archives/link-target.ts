// Where a link of an archive leads once it lies in its new place.
import path from 'node:path';
import { quoted, refuseEntry } from './refusal.ts';
import type { Takings } from './taking.ts';

export interface LinkPlace {
  /** Its path in the archive, and the one it gets. */
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** `isRooted` says that an absolute target counts from the root of the archive. */
export function newTarget(target: string, { from, to }: LinkPlace, takings: Takings, isRooted: boolean): string {
  const name = from.join('/');
  if (target.startsWith('/') && !isRooted) refuseEntry(name, 'is a link to an absolute path');
  const meant = resolved(from, target);
  if (!isRooted && /^\.\.(?:\/|$)/.test(meant)) refuseEntry(name, 'is a link that leads out of the folder');
  const place = takings.placeOf(split(meant));
  if (place === undefined) refuseEntry(name, `is a link to ${quoted(target)}, which is not taken`);
  const isSame = !target.startsWith('/') && resolved(to, target) === place.join('/');
  return isSame ? target : path.posix.relative(to.slice(0, -1).join('/'), place.join('/')) || '.';
}

/** Without a leading slash. What leads above the root begins with `..`. */
function resolved(link: readonly string[], target: string): string {
  if (target.startsWith('/')) return split(path.posix.normalize(target)).join('/');
  return split(path.posix.join(...link.slice(0, -1), target)).join('/');
}

function split(way: string): string[] {
  return way.split('/').filter(part => part !== '' && part !== '.');
}
