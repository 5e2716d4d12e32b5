// How samples lie on the disk. Each is two texts: the part that charts need, compressed against a dictionary, and the
// whole, compressed against the dictionary and that part, which repeats most of it. A dictionary is an earlier sample.
import { deflateRawSync, inflateRawSync, inflateSync } from 'node:zlib';

/** The form of an earlier program: one text, by zlib. */
export const ZLIB = 0;
export const WITH_DICTIONARY = 1;

const LEVEL = 6;
/** zlib looks back no further. */
const WINDOW_BYTES = 32_768;
/** A text is no larger, whatever its compressed form says. */
const MAX_TEXT_BYTES = 16 * 1_024 * 1_024;

/** An earlier sample. */
export interface Dictionary {
  readonly id: number;
  readonly item: Buffer;
  readonly whole: Buffer;
}

export interface StoredSample {
  readonly item: Buffer | null;
  readonly payload: Buffer;
}

export function compress(item: Buffer, whole: Buffer, dictionary: Dictionary): { item: Buffer; payload: Buffer } {
  return {
    item: deflateRawSync(item, { level: LEVEL, dictionary: recent(dictionary.item) }),
    payload: deflateRawSync(whole, { level: LEVEL, dictionary: recent(dictionary.whole, item) }),
  };
}

export function itemOf(stored: StoredSample, dictionary: Dictionary): Buffer {
  return inflateRawSync(stored.item ?? Buffer.alloc(0), {
    dictionary: recent(dictionary.item),
    maxOutputLength: MAX_TEXT_BYTES,
  });
}

export function wholeOf(stored: StoredSample, dictionary: Dictionary): Buffer {
  return inflateRawSync(stored.payload, {
    dictionary: recent(dictionary.whole, itemOf(stored, dictionary)),
    maxOutputLength: MAX_TEXT_BYTES,
  });
}

export function wholeOfZlib(payload: Buffer): Buffer {
  return inflateSync(payload, { maxOutputLength: MAX_TEXT_BYTES });
}

/** The end of the texts, as much as zlib looks back; what is most alike stands last. */
function recent(...texts: readonly Buffer[]): Buffer {
  const [only] = texts;
  const joined = texts.length === 1 && only !== undefined ? only : Buffer.concat([...texts]);
  return joined.length <= WINDOW_BYTES ? joined : joined.subarray(joined.length - WINDOW_BYTES);
}
