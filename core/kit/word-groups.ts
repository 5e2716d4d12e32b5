// Tells in one pass over a text which groups of words it holds, in upper or lower case: its bytes are looked up in
// pairs, and words are compared only where a pair may belong to one.

/** Set, besides the groups, for a text with a byte beyond ASCII or a control character other than a tab. */
export const UNPRINTABLE = 1 << 30;

const MAX_GROUPS = 30;
const SPACE = 0x20;
const TAB = 0x09;
const DELETE = 0x7f;
/** The bit that lower case letters have and upper case letters do not. */
const LOWER_CASE = 0x20;
/** How much each character counts, the most frequent in texts first; any other character counts 1. */
const FREQUENCIES = new Map([...' etaoinsrhldcumfpgwybvkxjqz'].map((letter, rank, all) => [letter, all.length - rank]));
const THREE_LETTERS = 0x7fff;
const SCRATCH_BYTES = 64 * 1024;
/** Texts are looked at one after the other, so one buffer serves them all. */
const SCRATCH = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
const SCRATCH_VIEW = new DataView(SCRATCH.buffer, SCRATCH.byteOffset, SCRATCH_BYTES);

interface Word {
  /** In lower case. */
  readonly bytes: Uint8Array;
  /** The offset of the three letters by which the word is found. */
  readonly offset: number;
  readonly groups: number;
}

export class WordGroups {
  /** Indexed by two bytes, the lower first: 1 where the pair may belong to a word. */
  readonly #pairs = new Uint8Array(65_536);
  /** Indexed by one byte: the groups of which the byte is a word. */
  readonly #single = new Int32Array(256);
  /** Indexed by the lower five bits of three bytes: an index of `#words`, or 0. */
  readonly #places = new Uint8Array(THREE_LETTERS + 1);
  readonly #words: (readonly Word[])[] = [[]];

  /** Words are ASCII in lower case, and have one or at least three characters. */
  constructor(groups: readonly (readonly string[])[]) {
    if (groups.length > MAX_GROUPS) throw new Error(`${groups.length} groups of words are more than ${MAX_GROUPS}`);
    for (let byte = 0; byte < 256; byte += 1) {
      const isPrintable = (byte >= SPACE && byte < DELETE) || byte === TAB;
      if (!isPrintable) this.#single[byte] = UNPRINTABLE;
    }
    const words = [...groupsByWord(groups)];
    for (const [word, of] of words.filter(([{ length }]) => length === 1)) {
      const byte = word.charCodeAt(0);
      this.#single[byte] = (this.#single[byte] ?? 0) | of;
    }
    this.#addSingles();
    // Longer words are found by the letters of shorter ones that they hold, so that fewer pairs need a look.
    const letters = new Set<string>();
    const longer = words.filter(([{ length }]) => length > 1).sort(([one], [other]) => one.length - other.length);
    for (const [word, of] of longer) this.#add(word, of, letters);
  }

  /** The groups, a bit for each, that have a word in these bytes. */
  find(view: DataView, from: number, to: number): number {
    const pairs = this.#pairs;
    let found = 0;
    let at = from;
    for (; at + 3 < to; at += 4) {
      const four = view.getUint32(at, true);
      if (((pairs[four & 0xffff] ?? 0) | (pairs[four >>> 16] ?? 0)) !== 0) found |= this.#atPairs(view, at, from, to);
    }
    if (at < to) found |= this.#atPairs(view, at, from, to);
    return found;
  }

  /** The same for a text. Its `UNPRINTABLE` bit means nothing, because the text is read as Latin-1. */
  findInText(text: string): number {
    if (text.length > SCRATCH_BYTES) {
      const bytes = Buffer.from(text, 'latin1');
      return this.find(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
    }
    return this.find(SCRATCH_VIEW, 0, SCRATCH.write(text, 'latin1'));
  }

  /**
   * The tables for a caller that searches by itself. `pairs` is indexed by two bytes, the lower first: 1 where the pair
   * needs a look. `letters` is indexed by the lower five bits of three bytes: 1 where they may belong to a word.
   * `singles` is indexed by a byte: 1 where it is a word, 2 where it is `UNPRINTABLE`.
   */
  tables(): { readonly pairs: Uint8Array; readonly letters: Uint8Array; readonly singles: Uint8Array } {
    return {
      pairs: this.#pairs,
      letters: this.#places.map(Math.sign),
      singles: Uint8Array.from(this.#single, groups => (groups === 0 ? 0 : groups === UNPRINTABLE ? 2 : 1)),
    };
  }

  /** Marks every pair with a byte that is a word or `UNPRINTABLE`. */
  #addSingles(): void {
    const withOneByte = Uint8Array.from(this.#single, groups => (groups === 0 ? 0 : 1));
    const all = new Uint8Array(256).fill(1);
    for (const [byte, isOne] of withOneByte.entries()) this.#pairs.set(isOne === 1 ? all : withOneByte, byte << 8);
  }

  #add(word: string, groups: number, letters: Set<string>): void {
    const bytes = Buffer.from(word, 'latin1');
    const offset = rarest(word, letters);
    const [first = '', second = '', third = ''] = word.slice(offset, offset + 3);
    letters.add(first + second + third);
    // Pairs are looked up at every second byte, which is the first or the second of these three.
    for (const pair of [first + second, second + third]) {
      for (const shown of inAnyCase(pair)) this.#pairs[shown.charCodeAt(0) | (shown.charCodeAt(1) << 8)] = 1;
    }
    const code = threeLetters(first.charCodeAt(0), second.charCodeAt(0), third.charCodeAt(0));
    const place = this.#places[code] || this.#words.push([]) - 1;
    this.#places[code] = place;
    this.#words[place] = [...(this.#words[place] ?? []), { bytes, offset, groups }];
  }

  /** The groups of the words that are found by the two pairs that begin at `first`. */
  #atPairs(view: DataView, first: number, from: number, to: number): number {
    let found = 0;
    for (let at = first; at < first + 4 && at < to; at += 2) {
      const low = view.getUint8(at);
      const high = at + 1 < to ? view.getUint8(at + 1) : SPACE;
      if (this.#pairs[low | (high << 8)] === 0) continue;
      found |= (this.#single[low] ?? 0) | (this.#single[high] ?? 0);
      found |= this.#at(view, at - 1, from, to) | this.#at(view, at, from, to);
    }
    return found;
  }

  /** The groups of the words whose three letters begin at `at`. */
  #at(view: DataView, at: number, from: number, to: number): number {
    if (at < from || at + 3 > to) return 0;
    const place = this.#places[threeLetters(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2))] ?? 0;
    if (place === 0) return 0;
    let found = 0;
    for (const { bytes, offset, groups } of this.#words[place] ?? []) {
      if (isAt(bytes, view, at - offset, from, to)) found |= groups;
    }
    return found;
  }
}

function groupsByWord(groups: readonly (readonly string[])[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, words] of groups.entries())
    for (const word of words) found.set(word, (found.get(word) ?? 0) | (1 << index));
  return found;
}

function threeLetters(first: number, second: number, third: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (third & 31);
}

function isAt(word: Uint8Array, view: DataView, start: number, from: number, to: number): boolean {
  if (start < from || start + word.length > to) return false;
  for (let index = 0; index < word.length; index += 1) {
    const byte = view.getUint8(start + index);
    const isUpperCase = byte >= 0x41 && byte <= 0x5a;
    if ((isUpperCase ? byte | LOWER_CASE : byte) !== word[index]) return false;
  }
  return true;
}

/** The offset of three letters of a word that are known already, else of those whose pairs are rarest in texts. */
function rarest(word: string, known: ReadonlySet<string>): number {
  let best = 0;
  let leastFrequent = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + 3 <= word.length; offset += 1) {
    if (known.has(word.slice(offset, offset + 3))) return offset;
    const pairs = frequency(word[offset + 1]) * (frequency(word[offset]) + frequency(word[offset + 2]));
    if (pairs < leastFrequent) [best, leastFrequent] = [offset, pairs];
  }
  return best;
}

function frequency(letter = ''): number {
  return FREQUENCIES.get(letter) ?? 1;
}

function inAnyCase(pair: string): string[] {
  const [first = '', second = ''] = pair;
  return [first, first.toUpperCase()].flatMap(one => [one + second, one + second.toUpperCase()]);
}
