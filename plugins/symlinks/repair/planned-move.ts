// What a migration does with one link, decided from the state before the run and from what earlier migrations of the
// same run will have moved to the same place.
import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { diskPath, isWithin, joined, type RawPath, relocatedTarget, shownPath } from '../places/raw-path.ts';
import { isTemporaryName } from '../places/temporary-name.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { listEntries } from '../walk/listing.ts';
import type { TargetLook } from '../walk/target-look.ts';
import type { Link } from '../walk/visit.ts';
import { type RewriteOptions, targetAfterRewrites, targetFault } from './planned-link.ts';

/** The real paths of the roots of one migration. */
export interface Migration {
  readonly from: RawPath;
  readonly to: RawPath;
}

export interface MoveOptions {
  /** All migrations in order; when one begins, those before it are done. */
  readonly migrations: readonly Migration[];
  readonly rewrites: RewriteOptions;
  readonly overwrites: boolean;
}

export type PlannedMove =
  | { readonly is: 'broken' | 'existing' }
  | { readonly is: 'error'; readonly error: string }
  /** `replaced` is the target of the link that is overwritten. */
  | { readonly is: 'move'; readonly oldTarget: RawPath; readonly target: RawPath; readonly replaced: RawPath | null };

/** What is at a place: a link with its target, another entry, or nothing. */
type Occupant = { readonly is: 'link'; readonly target: RawPath } | { readonly is: 'directory' | 'file' } | undefined;

export class MovePlanner {
  readonly #options: MoveOptions;
  readonly #pulse: Pulse;
  readonly #targets: TargetLook;

  constructor(options: MoveOptions, pulse: Pulse, targets: TargetLook) {
    this.#options = options;
    this.#pulse = pulse;
    this.#targets = targets;
  }

  /** Why no link can be put into the destination of `directory`; undefined when one can. */
  obstacle(index: number, directory: RawPath): string | undefined {
    const to = this.#migration(index).to;
    for (let place = this.destinationOf(index, directory); isWithin(place, to); place = path.posix.dirname(place)) {
      const occupant = this.#occupant(index, place);
      if (occupant !== undefined && occupant.is !== 'directory') return `${shownPath(place)} is no directory`;
      if (occupant !== undefined) return undefined;
      if (place === '/') return undefined;
    }
    return undefined;
  }

  /** Plans the move of a link by the migration with this index. There must be no obstacle. */
  plan(index: number, directory: RawPath, link: Link): PlannedMove {
    const { rewrites, overwrites } = this.#options;
    const oldTarget = targetAfterRewrites(directory, link, rewrites, this.#targets);
    if (!rewrites.includeBroken && this.#targets.presence(directory, oldTarget) === 'missing') return { is: 'broken' };
    const destination = this.destinationOf(index, directory);
    const place = joined(destination, link.name);
    const occupant = this.#occupant(index, place);
    if (occupant !== undefined && !overwrites) return { is: 'existing' };
    if (occupant !== undefined && occupant.is !== 'link')
      return { is: 'error', error: `${shownPath(place)} is a ${occupant.is} and is not replaced` };
    const target = relocatedTarget(oldTarget, directory, destination);
    const error = targetFault(destination, target, place);
    if (error !== undefined) return { is: 'error', error };
    return { is: 'move', oldTarget, target, replaced: occupant?.target ?? null };
  }

  destinationOf(index: number, directory: RawPath): RawPath {
    const { from, to } = this.#migration(index);
    return joined(to, directory === from ? '' : directory.slice(from.length + 1));
  }

  /** What will be at a place when the migration with this index begins. */
  #occupant(index: number, place: RawPath): Occupant {
    for (let earlier = index - 1; earlier >= 0; earlier -= 1) {
      const { from, to } = this.#migration(earlier);
      if (!isWithin(place, to)) continue;
      const brought = this.#brought(earlier, joined(from, place === to ? '' : place.slice(to.length + 1)));
      if (brought !== undefined) return brought;
    }
    const occupant = this.#onDisk(place);
    if (occupant?.is !== 'link') return occupant;
    // The root to which links are moved may also be one whose links are rewritten before.
    const link = { name: path.posix.basename(place), target: occupant.target };
    return {
      ...occupant,
      target: targetAfterRewrites(path.posix.dirname(place), link, this.#options.rewrites, this.#targets),
    };
  }

  /** What the migration puts at the destination of `source`, a place below its root; undefined for nothing. */
  #brought(index: number, source: RawPath): Occupant {
    const occupant = this.#onDisk(source);
    if (occupant?.is === 'directory') return this.#bringsAnything(index, source) ? { is: 'directory' } : undefined;
    if (occupant?.is !== 'link') return undefined;
    const directory = path.posix.dirname(source);
    if (this.obstacle(index, directory) !== undefined) return undefined;
    const planned = this.plan(index, directory, { name: path.posix.basename(source), target: occupant.target });
    return planned.is === 'move' ? { is: 'link', target: planned.target } : undefined;
  }

  #bringsAnything(index: number, directory: RawPath): boolean {
    this.#pulse.beat();
    for (const entry of listEntries(directory)) {
      if (!(entry.isSymbolicLink() || entry.isDirectory()) || isTemporaryName(entry.name)) continue;
      if (this.#brought(index, joined(directory, entry.name)) !== undefined) return true;
    }
    return false;
  }

  #onDisk(place: RawPath): Occupant {
    this.#pulse.beat();
    const entry = lstatSync(diskPath(place), { throwIfNoEntry: false });
    if (entry === undefined) return undefined;
    if (entry.isSymbolicLink()) return { is: 'link', target: readlinkSync(diskPath(place), 'latin1') };
    return { is: entry.isDirectory() ? 'directory' : 'file' };
  }

  #migration(index: number): Migration {
    const migration = this.#options.migrations[index];
    if (migration === undefined) throw new Error(`there is no migration ${index}`);
    return migration;
  }
}
