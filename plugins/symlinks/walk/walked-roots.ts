// The roots of a request that are walked: each real place once, without roots that are missing or whose mount is down.
import { Problem } from '#core';
import type { MountDown } from '../places/mounts-down.ts';
import { isAtOrBelow, type Places, rootNamed } from '../places/path-rules.ts';
import { isWithin, type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { allowedPlace, directoryAt } from '../places/real-places.ts';
import type { ItemError, WalkedDirectory } from './visit.ts';

export interface WalkedRoots {
  readonly walked: readonly WalkedDirectory[];
  readonly missing: readonly string[];
  /** Roots on mounts that are down. */
  readonly errors: readonly ItemError[];
}

/** Throws a Problem 400 for a root whose real path is a protected place. */
export function walkedRoots(roots: readonly string[], down: readonly MountDown[], places: Places): WalkedRoots {
  const missing: string[] = [];
  const errors: ItemError[] = [];
  const found: WalkedDirectory[] = [];
  for (const root of new Set(roots)) {
    const raw = rawOf(root);
    const mount = down.find(({ directory }) => isAtOrBelow(root, directory));
    const real = mount === undefined ? placeOf(raw, root, places) : undefined;
    if (mount !== undefined) errors.push({ link_path: root, error: mount.reason });
    if (real === undefined) missing.push(root);
    else found.push({ real, shown: raw });
  }
  const walked = found.filter(
    ({ real }, index) =>
      !found.some((other, at) => at !== index && isWithin(real, other.real) && (real !== other.real || at < index)),
  );
  return { walked, missing, errors };
}

function placeOf(raw: RawPath, root: string, places: Places): RawPath | undefined {
  allowedPlace(raw, rootNamed(root), places);
  return directoryAt(raw);
}

/** Throws a Problem 500 when there are roots but none could be read; `unreadable` has the reasons by real path. */
export function refuseUnreadable(walked: readonly WalkedDirectory[], unreadable: ReadonlyMap<RawPath, string>): void {
  const [first] = walked;
  if (first === undefined || !walked.every(({ real }) => unreadable.has(real))) return;
  throw new Problem(500, `None of the roots can be read: ${shownPath(first.shown)}: ${unreadable.get(first.real)}`);
}
