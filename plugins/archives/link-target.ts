// Computes the target of a link at its new place, and refuses links that lead out of the folder or to what is not
// taken.
import path from 'node:path';
import { refuseUnclear } from './entry.ts';
import { quoted, refuseEntry } from './refusal.ts';
import type { Takings } from './taking.ts';

/** The kernel accepts no longer target. */
const MAX_TARGET_BYTES = 4_095;

export interface LinkPlace {
  /** The path of the link in the archive, and its path in the target. */
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** `isRooted`: whether an absolute target counts from the root of the archive. */
export function newTarget(target: string, { from, to }: LinkPlace, takings: Takings, isRooted: boolean): string {
  const name = from.join('/');
  if (target === '') refuseEntry(name, 'is a link to nothing');
  refuseUnclear(name, target, 'is a link whose target ');
  if (target.startsWith('/') && !isRooted) refuseEntry(name, 'is a link to an absolute path');
  const meant = resolved(from, target);
  if (!isRooted && /^\.\.(?:\/|$)/.test(meant)) refuseEntry(name, 'is a link that leads out of the folder');
  const place = takings.placeOf(split(meant));
  if (place === undefined) refuseEntry(name, `is a link to ${quoted(target)}, which is not taken`);
  const isSame = !target.startsWith('/') && resolved(to, target) === place.join('/');
  const told = isSame ? target : path.posix.relative(to.slice(0, -1).join('/'), place.join('/')) || '.';
  if (Buffer.byteLength(told) > MAX_TARGET_BYTES)
    refuseEntry(name, `is a link whose target is longer than ${MAX_TARGET_BYTES} bytes`);
  return told;
}

/** The path that a target means, without a leading slash. A path above the root begins with `..`. */
function resolved(link: readonly string[], target: string): string {
  if (target.startsWith('/')) return split(path.posix.normalize(target)).join('/');
  return split(path.posix.join(...link.slice(0, -1), target)).join('/');
}

function split(way: string): string[] {
  return way.split('/').filter(part => part !== '' && part !== '.');
}
