// Finds out whether the targets of links exist. At the second question about a directory it is listed and remembered,
// unless it is known to be so large that single questions cost less. When a directory does not answer, its targets are
// unknown, which counts as existing.
import { statSync } from 'node:fs';
import path from 'node:path';
import { reasonText } from '#kit/error-text';
import { diskPath, isWithin, type RawPath } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { ListedNames } from './listed-names.ts';
import { listEntries } from './listing.ts';

/** Errors that mean that nothing exists; after any other error the target is unknown. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);
/** How many names a thread remembers, about 10 MB. */
const MAX_NAMES = 100_000;

/** A question about one name costs about as much as listing this many names. */
const NAMES_PER_QUESTION = 8;
/** The size from which a directory counts as large; the sizes of at most `MAX_LARGE` of them are remembered. */
const LARGE_FROM = 128;
const MAX_LARGE = 1_000;

/** The number of names in large directories, which are not listed again for a few questions. */
export type LargeDirectories = Map<RawPath, number>;

type Presence = 'exists' | 'missing' | 'unknown';
/** A number counts the questions about a directory that is not listed yet. */
type Content = number | 'missing' | 'unknown' | ListedNames;

export class TargetLook {
  readonly #pulse: Pulse;
  readonly #unreachable: readonly RawPath[];
  readonly #tell: (directory: RawPath, error: string) => void;
  readonly #large: LargeDirectories;
  readonly #contents = new Map<RawPath, Content>();
  readonly #told = new Set<RawPath>();
  readonly #met = new Set<RawPath>();
  #names = 0;
  /** The directory of the last question, with a slash: most links of one directory lead to the same other directory. */
  #last: RawPath = '/';
  /** The names in that directory, if it was listed and no place is unreachable. */
  #lastNames: ListedNames | undefined;

  /**
   * Nothing below `unreachable` is touched. `tell` is called once for each directory that cannot be read. `large` is
   * shared by all looks of a task.
   */
  constructor(
    pulse: Pulse,
    unreachable: readonly RawPath[],
    tell: (directory: RawPath, error: string) => void,
    large: LargeDirectories = new Map(),
  ) {
    this.#pulse = pulse;
    this.#unreachable = unreachable;
    this.#tell = tell;
    this.#large = large;
  }

  /** Whether the target of a link in the real directory `from` exists. */
  presence(from: RawPath, target: RawPath): Presence {
    const place = target.startsWith('/') ? target : `${from}/${target}`;
    const names = this.#lastNames;
    // Comparing a slice costs a quarter of `startsWith` for texts of this length.
    if (names !== undefined && place.slice(0, this.#last.length) === this.#last) {
      const name = place.slice(this.#last.length);
      if (names.has(name) && !names.isLink(name)) return 'exists';
    }
    return this.#presenceAt(place);
  }

  #presenceAt(place: RawPath): Presence {
    const cut = place.lastIndexOf('/');
    const directory = place.slice(0, cut) || '/';
    const name = place.slice(cut + 1);
    const unreachable = this.#unreachableAbove(place);
    if (unreachable !== undefined) {
      this.#met.add(unreachable);
      return 'unknown';
    }
    if (name === '' || name === '.' || name === '..') return this.#stat(place, directory);
    const content = this.#contentOf(directory);
    this.#last = place.slice(0, cut + 1);
    this.#lastNames = typeof content === 'object' && this.#unreachable.length === 0 ? content : undefined;
    if (typeof content === 'number') return this.#stat(place, directory);
    if (typeof content === 'string') return content;
    if (!content.has(name)) return 'missing';
    return content.isLink(name) ? this.#stat(place, directory) : 'exists';
  }

  #unreachableAbove(place: RawPath): RawPath | undefined {
    if (this.#unreachable.length === 0) return undefined;
    const known = path.posix.normalize(place);
    return this.#unreachable.find(prefix => isWithin(known, prefix));
  }

  /** The unreachable places to which targets have led since the last call. */
  takeMet(): RawPath[] {
    const met = [...this.#met];
    this.#met.clear();
    return met;
  }

  #contentOf(directory: RawPath): Content {
    const content = this.#contents.get(directory) ?? 0;
    if (typeof content !== 'number') return content;
    if (content === 0 || content * NAMES_PER_QUESTION < (this.#large.get(directory) ?? 0)) {
      this.#remember(directory, content + 1);
      return content;
    }
    const read = this.#read(directory);
    if (typeof read === 'object' && read.size >= LARGE_FROM) {
      if (this.#large.size >= MAX_LARGE) this.#large.clear();
      this.#large.set(directory, read.size);
    }
    this.#remember(directory, read);
    return read;
  }

  #read(directory: RawPath): 'missing' | 'unknown' | ListedNames {
    return this.#ask(directory, () => new ListedNames(listEntries(directory)));
  }

  #stat(place: RawPath, directory: RawPath): Presence {
    return this.#ask(directory, () => {
      // Returning undefined costs a hundredth of throwing an error.
      return statSync(diskPath(place), { throwIfNoEntry: false }) === undefined ? 'missing' : 'exists';
    });
  }

  #ask<Answer>(directory: RawPath, call: () => Answer): Answer | 'missing' | 'unknown' {
    this.#pulse.beginTest(directory);
    try {
      return call();
    } catch (error) {
      if (MISSING.has((error as NodeJS.ErrnoException).code ?? '')) return 'missing';
      if (!this.#told.has(directory)) this.#tell(directory, reasonText(error));
      this.#told.add(directory);
      return 'unknown';
    } finally {
      this.#pulse.endTest();
    }
  }

  #remember(directory: RawPath, content: Content): void {
    this.#names += typeof content === 'object' ? content.size : 1;
    if (this.#names > MAX_NAMES) {
      this.#contents.clear();
      this.#names = 0;
    }
    this.#contents.set(directory, content);
  }
}
