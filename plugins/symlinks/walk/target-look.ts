// Tells whether the targets of links exist. A directory that is asked for a second time is read once and for all,
// unless it is known to be so large that single questions cost less; one that does not answer is never called empty:
// what is unknown counts as existing.
import { statSync } from 'node:fs';
import path from 'node:path';
import { reasonText } from '#kit/error-text';
import { diskPath, isWithin, type RawPath } from '../places/raw-path.ts';
import type { Pulse } from '../tasks/pulse.ts';
import { ListedNames } from './listed-names.ts';
import { listEntries } from './listing.ts';

/** What these say is that there is nothing; any other error is no answer. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);
/** Names that are remembered by one thread, about 10 MB of them. */
const MAX_NAMES = 100_000;

/** A question for one name costs about as much as to read so many. */
const NAMES_PER_QUESTION = 8;
/** From here on a directory is known to be large, and so many of those are known at once. */
const LARGE_FROM = 128;
const MAX_LARGE = 1_000;

/** How many names there were in directories that are too large to be read again for a few questions. */
export type LargeDirectories = Map<RawPath, number>;

type Presence = 'exists' | 'missing' | 'unknown';
/** A number: not read yet, and asked for so often. */
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
  /** The directory of the last question as places in it begin: most of the links in a directory lead to one other. */
  #last: RawPath = '/';
  /** What is in it, if that was read and everything may be asked for. */
  #lastNames: ListedNames | undefined;

  /**
   * Nothing below `unreachable` is touched. `tell` is called once for each directory that gives no answer. `large` is
   * what looks of the same task have found out.
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

  /** Of a link in the real directory `from`. */
  presence(from: RawPath, target: RawPath): Presence {
    const place = target.startsWith('/') ? target : `${from}/${target}`;
    const names = this.#lastNames;
    // To compare a part that was cut off costs a quarter of what `startsWith` does with a text of this length.
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

  /** The places that were not asked for though targets lead there, since the last call. */
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
      // Without one it is told at a hundredth of the cost of an error.
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
