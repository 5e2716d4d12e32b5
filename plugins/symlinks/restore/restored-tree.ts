// The tree into which a manifest is restored: reads what is at its paths, and puts links there. Below a root of the
// manifest a path must lead only through real directories, and never into a protected place.
import { accessSync, constants, lstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import { HeldDirectory, linkTarget } from '../places/held-directory.ts';
import type { MountDown } from '../places/mounts-down.ts';
import { isProtected, type Places } from '../places/path-rules.ts';
import { diskPath, isWithin, joined, type RawPath, rawOf, shownPath } from '../places/raw-path.ts';
import { realPlace } from '../places/real-places.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { EntryError, type Standing, type Step } from './decision.ts';
import { PreviewTable } from './preview-table.ts';

/** How many directories are held open at once; a change may lead from one to another. */
const MAX_HELD = 4;
const MAX_NAME_BYTES = 255;

/** A root: its path in the manifest, and its real path. */
export interface Base {
  readonly shown: RawPath;
  readonly real: RawPath;
}

export interface RestoredTreeOptions {
  /** The roots within which paths must lie. Without any, all places are allowed that are not protected. */
  readonly bases: readonly Base[];
  /** The places of the host, with real paths. */
  readonly places: Places;
  /** Mounts that are down; nothing is restored below them. */
  readonly mountsDown: readonly MountDown[];
  /** The id of the job, for the names of temporary links. */
  readonly runId: string;
  /** The memory of a preview, which writes nothing to the disk; null for a real restore. */
  readonly preview: SharedArrayBuffer | null;
  /** The time for the names under which files are kept. */
  readonly stamp: string;
}

/** The directory of a link. */
interface Parent {
  readonly real: RawPath;
  /** null while it does not exist. */
  readonly held: HeldDirectory | null;
  /** The directory itself, or its nearest ancestor that exists. */
  readonly above: RawPath;
  /** Whether a name was missing in it before. */
  lacksNames: boolean;
  /** Whether it was found that links can be made in `above`. */
  isWritable: boolean;
}

/** What is put at a path. */
interface Replacement extends Pick<Step, 'target' | 'instead'> {
  /** undefined: that of the link there, or else of the directory. */
  readonly owner: Stats | undefined;
}

const NOTHING: Standing = { kind: 'nothing' };

export class RestoredTree {
  readonly #options: RestoredTreeOptions;
  readonly #pulse: Pulse;
  readonly #preview: PreviewTable | null;
  readonly #parents = new Map<RawPath, Parent>();

  constructor(options: RestoredTreeOptions, pulse: Pulse) {
    this.#options = options;
    this.#pulse = pulse;
    this.#preview = options.preview === null ? null : new PreviewTable(options.preview);
  }

  /** The real path of the directory of a link, which need not exist. Throws an EntryError when it may not be used. */
  directoryOf(link: RawPath): RawPath {
    return this.#parent(link).real;
  }

  /** What is at the path of a link. Throws an EntryError when the path may not be used. */
  standing(link: RawPath): Standing {
    const parent = this.#parent(link);
    const { real, held, above } = parent;
    const name = path.posix.basename(link);
    const known = this.#preview?.get(joined(real, name));
    if (known !== undefined) return known;
    if (held === null) {
      this.#refuseBelowLinks(real, above);
      return NOTHING;
    }
    this.#pulse.beat();
    // Reading a missing link throws an error, which costs three times as much as this question.
    if (parent.lacksNames && held.entry(name) === undefined) return NOTHING;
    // A preview uses the plain path, because reading through the descriptor costs twice as much.
    const target = this.#preview === null ? held.target(name) : linkTarget(diskPath(joined(real, name)));
    if (target !== undefined) return { kind: 'link', target, holds: other => other === target };
    const entry = held.entry(name);
    if (entry !== undefined) return { kind: entry.isDirectory() ? 'directory' : 'file' };
    parent.lacksNames = true;
    return NOTHING;
  }

  /** Carries out a step, or notes it in a preview. Throws an EntryError when the path has changed meanwhile. */
  take({ path: link, target, instead, from }: Step): void {
    // Asked before the directory of the link is, because holding another directory may close that one.
    const owner = this.#ownerOf(from);
    const parent = this.#parent(link);
    const name = path.posix.basename(link);
    this.#pulse.beat();
    // Checked in a preview too, so that it reports places that cannot be written.
    if (!parent.isWritable) accessSync(diskPath(parent.above), constants.W_OK | constants.X_OK);
    parent.isWritable = true;
    if (instead.kind === 'file' && this.#keptName(name).length > MAX_NAME_BYTES)
      throw new EntryError(`the name of the file there has no room for ${this.#keptName('')}; move it away`);
    if (this.#preview === null) this.#write(this.#made(link, parent), name, { target, instead, owner });
    else {
      for (const missing of missingOf(parent)) this.#preview.setDirectory(missing);
      this.#preview.setLink(joined(parent.real, name), target);
    }
  }

  /** Removes the directory of the link and its parents, `count` in all, as far as they are empty. */
  removeEmpty(link: RawPath, count: number): void {
    if (this.#preview !== null) return;
    const parent = this.#parent(link);
    let left = count - missingOf(parent).length;
    for (let place = parent.above; left > 0; place = path.posix.dirname(place), left -= 1) {
      if (isProtected(shownPath(place), this.#options.places)) return;
      this.#pulse.beat();
      const held = place === parent.real ? parent.held : null;
      if (!(held === null ? removeIfEmpty(place) : held.removeIfEmpty(place))) return;
      this.#forgetBelow(place);
    }
  }

  close(): void {
    for (const { held } of this.#parents.values()) held?.close();
    this.#parents.clear();
  }

  #write(held: HeldDirectory, name: RawPath, { target, instead, owner }: Replacement): void {
    const isAsBefore = (): boolean => {
      this.#pulse.beat();
      if (instead.kind === 'link') return held.target(name) === instead.target;
      const entry = held.entry(name);
      if (entry === undefined) return true;
      return instead.kind === 'file' && !entry.isDirectory() && !entry.isSymbolicLink();
    };
    if (target === null) {
      if (!isAsBefore()) throw changed();
      held.remove(name);
      return;
    }
    const given = owner ?? (instead.kind === 'link' ? held.entry(name) : undefined) ?? held.stats;
    if (instead.kind === 'file') held.keepAs(name, this.#keptName(name));
    if (!held.place(name, target, given, this.#options.runId, isAsBefore)) throw changed();
  }

  /** The owner of a link that moves back. Only root can give it to a new link. */
  #ownerOf(link: RawPath | undefined): Stats | undefined {
    if (link === undefined || this.#preview !== null || process.geteuid?.() !== 0) return undefined;
    return this.#parent(link).held?.entry(path.posix.basename(link));
  }

  /** The name under which a file is kept that a link replaces. */
  #keptName(name: RawPath): RawPath {
    return `${name}.replaced-${this.#options.stamp}`;
  }

  #made(link: RawPath, { real, held, above }: Parent): HeldDirectory {
    if (held !== null) return held;
    const made = HeldDirectory.make(real, () => above);
    this.#remember(path.posix.dirname(link), { real, held: made, above: real, lacksNames: true, isWritable: true });
    return made;
  }

  #parent(link: RawPath): Parent {
    const directory = path.posix.dirname(link);
    const known = this.#parents.get(directory);
    if (known !== undefined) return known;
    const parent = this.#look(this.#realDirectory(link));
    this.#remember(directory, parent);
    return parent;
  }

  #realDirectory(link: RawPath): RawPath {
    const { bases, places, mountsDown } = this.#options;
    const directory = path.posix.dirname(link);
    const real = bases.length === 0 ? realPlace(directory) : realBelow(bases, directory);
    const place = joined(real, path.posix.basename(link));
    if (isProtected(shownPath(link), places) || isProtected(shownPath(place), places))
      throw new EntryError('it lies in a protected place of the system or of this product');
    const down = mountsDown.find(mount => isWithin(place, rawOf(mount.directory)));
    if (down !== undefined) throw new EntryError(down.reason);
    return real;
  }

  #look(real: RawPath): Parent {
    this.#pulse.beat();
    let above = real;
    while (lstatSync(diskPath(above), { throwIfNoEntry: false }) === undefined) above = path.posix.dirname(above);
    const held = open(above);
    const parent = { real, above, lacksNames: false, isWritable: false };
    if (above === real) return { ...parent, held };
    held.close();
    return { ...parent, held: null };
  }

  #remember(directory: RawPath, parent: Parent): void {
    this.#parents.get(directory)?.held?.close();
    this.#parents.set(directory, parent);
    const [oldest] = this.#parents.entries();
    if (this.#parents.size <= MAX_HELD || oldest === undefined) return;
    oldest[1].held?.close();
    this.#parents.delete(oldest[0]);
  }

  #forgetBelow(place: RawPath): void {
    for (const [directory, { real, held }] of this.#parents)
      if (isWithin(real, place)) {
        held?.close();
        this.#parents.delete(directory);
      }
  }

  /** Throws an EntryError when the preview would have put a link at the path of a missing directory. */
  #refuseBelowLinks(real: RawPath, above: RawPath): void {
    for (const missing of missingOf({ real, above }))
      if (this.#preview?.get(missing)?.kind === 'link') throw noDirectory();
  }
}

function open(real: RawPath): HeldDirectory {
  try {
    return HeldDirectory.open(real);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && code !== 'ENOTDIR' && code !== 'ELOOP') throw error;
    throw noDirectory();
  }
}

function removeIfEmpty(real: RawPath): boolean {
  const held = HeldDirectory.open(real);
  try {
    return held.removeIfEmpty(real);
  } finally {
    held.close();
  }
}

/** The directories that are missing, the deepest one first. */
function missingOf({ real, above }: Pick<Parent, 'real' | 'above'>): RawPath[] {
  const missing: RawPath[] = [];
  for (let place = real; place !== above; place = path.posix.dirname(place)) missing.push(place);
  return missing;
}

/** Counted from the innermost root, because a root within another one may be a link, which is followed as a root. */
function realBelow(bases: readonly Base[], directory: RawPath): RawPath {
  let inner: { readonly root: RawPath; readonly real: RawPath } | undefined;
  for (const { shown, real } of bases)
    for (const root of [shown, real])
      if (isWithin(directory, root) && root.length > (inner?.root.length ?? 0)) inner = { root, real };
  if (inner === undefined) throw new EntryError('it lies outside of the roots of the manifest');
  return joined(inner.real, directory.slice(inner.root === '/' ? 1 : inner.root.length + 1));
}

function noDirectory(): EntryError {
  return new EntryError('a part of its path is no directory, or is a link');
}

function changed(): EntryError {
  return new EntryError('somebody else has changed it meanwhile');
}
