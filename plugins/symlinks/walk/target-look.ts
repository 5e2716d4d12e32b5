// Tells whether the targets of links exist. A directory that is asked for a second time is read once and for all, and one
// that does not answer is never called empty: what is unknown counts as existing.
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

type Presence = 'exists' | 'missing' | 'unknown';
/** `seen`: asked for once, not read yet. */
type Content = 'seen' | 'missing' | 'unknown' | ListedNames;

export class TargetLook {
  readonly #pulse: Pulse;
  readonly #unreachable: readonly RawPath[];
  readonly #tell: (directory: RawPath, error: string) => void;
  readonly #contents = new Map<RawPath, Content>();
  readonly #told = new Set<RawPath>();
  readonly #met = new Set<RawPath>();
  #names = 0;
  /** The directory of the last question as places in it begin: most of the links in a directory lead to one other. */
  #last: RawPath = '/';
  /** What is in it, if that was read and everything may be asked for. */
  #lastNames: ListedNames | undefined;

  /** Nothing below `unreachable` is touched. `tell` is called once for each directory that gives no answer. */
  constructor(pulse: Pulse, unreachable: readonly RawPath[], tell: (directory: RawPath, error: string) => void) {
    this.#pulse = pulse;
    this.#unreachable = unreachable;
    this.#tell = tell;
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
    this.#lastNames = typeof content === 'string' || this.#unreachable.length > 0 ? undefined : content;
    if (content === 'seen') return this.#stat(place, directory);
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
    const content = this.#contents.get(directory);
    if (content === undefined) {
      this.#remember(directory, 'seen');
      return 'seen';
    }
    if (content !== 'seen') return content;
    const read = this.#read(directory);
    this.#remember(directory, read);
    return read;
  }

  #read(directory: RawPath): Content {
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
    this.#names += typeof content === 'string' ? 1 : content.size;
    if (this.#names > MAX_NAMES) {
      this.#contents.clear();
      this.#names = 0;
    }
    this.#contents.set(directory, content);
  }
}
