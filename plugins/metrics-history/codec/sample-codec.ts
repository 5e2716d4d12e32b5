// How samples are stored: as differences from a dictionary, which is an earlier sample. A sample that does not have the
// form of this program is stored as two texts: its item, compressed with the dictionary, and the whole, compressed with
// the dictionary and the item.
import { deflateRawSync, inflateRawSync, inflateSync } from 'node:zlib';
import { itemIn } from './compact-item.ts';
import { differences, itemOfDifferences, type KnownSample, knownSample, wholeOfDifferences } from './shape-codec.ts';

/** The form of an earlier program: one text, compressed by zlib. */
export const ZLIB = 0;
export const WITH_DICTIONARY = 1;
export const DIFFERENCES = 2;

const LEVEL = 6;
/** The size of the window of zlib: of a longer dictionary, only the end is used. */
const WINDOW_BYTES = 32_768;
/** The greatest text that is decompressed; a larger one counts as damaged. */
const MAX_TEXT_BYTES = 16 * 1_024 * 1_024;

/** An earlier sample: the JSON texts of its item and of the whole. */
export interface Dictionary {
  readonly id: number;
  readonly item: Buffer;
  readonly whole: Buffer;
}

export interface StoredSample {
  readonly item: Buffer | null;
  readonly payload: Buffer;
  readonly codec: number;
}

const samples = new WeakMap<Dictionary, KnownSample | null>();

export function compress(
  sample: Readonly<Record<string, unknown>>,
  whole: Buffer,
  dictionary: Dictionary,
): StoredSample {
  const known = sampleIn(dictionary);
  const payload = known === null ? undefined : differences(sample, known);
  if (payload !== undefined) return { item: null, payload, codec: DIFFERENCES };
  const item = itemIn(sample);
  return {
    item: deflateRawSync(item, { level: LEVEL, dictionary: recent(dictionary.item) }),
    payload: deflateRawSync(whole, { level: LEVEL, dictionary: recent(dictionary.whole, item) }),
    codec: WITH_DICTIONARY,
  };
}

/** The JSON text of the item of a sample. Throws an Error when the stored bytes are damaged. */
export function itemOf(stored: StoredSample, dictionary: Dictionary): Buffer {
  if (stored.codec === DIFFERENCES) return itemOfDifferences(stored.payload, readSample(dictionary));
  return checked(inflated(stored.item, recent(dictionary.item)));
}

/** The JSON text of a sample. Throws an Error when the stored bytes are damaged. */
export function wholeOf(stored: StoredSample, dictionary: Dictionary): Buffer {
  if (stored.codec === DIFFERENCES) return wholeOfDifferences(stored.payload, readSample(dictionary));
  const item = inflated(stored.item, recent(dictionary.item));
  return checked(inflated(stored.payload, recent(dictionary.whole, item)));
}

function inflated(bytes: Buffer | null, dictionary: Buffer): Buffer {
  return inflateRawSync(bytes ?? Buffer.alloc(0), { dictionary, maxOutputLength: MAX_TEXT_BYTES });
}

/** Throws an Error unless the text is JSON: raw deflate has no checksum, and a damaged text would spoil an answer. */
function checked(text: Buffer): Buffer {
  JSON.parse(text.toString());
  return text;
}

/** null when the dictionary is damaged or not of this program's form: it then serves only as a text for zlib. */
function sampleIn(dictionary: Dictionary): KnownSample | null {
  const read = samples.get(dictionary);
  if (read !== undefined) return read;
  const sample = readable(dictionary.whole) ?? null;
  samples.set(dictionary, sample);
  return sample;
}

function readable(text: Buffer): KnownSample | undefined {
  try {
    return knownSample(text);
  } catch {
    return undefined;
  }
}

function readSample(dictionary: Dictionary): KnownSample {
  const sample = sampleIn(dictionary);
  if (sample === null) throw new Error('the dictionary is damaged');
  return sample;
}

export function wholeOfZlib(payload: Buffer): Buffer {
  return inflateSync(payload, { maxOutputLength: MAX_TEXT_BYTES });
}

/** The end of the joined texts, as long as the window of zlib. The text that is most similar must come last. */
function recent(...texts: readonly Buffer[]): Buffer {
  const [only] = texts;
  const joined = texts.length === 1 && only !== undefined ? only : Buffer.concat([...texts]);
  return joined.length <= WINDOW_BYTES ? joined : joined.subarray(joined.length - WINDOW_BYTES);
}
