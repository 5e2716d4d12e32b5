// Samples in the database: they are written together with their points, and read as JSON texts.
import type { SqliteDatabase } from '#core';
import { refuseCostlyJson } from '#kit/nesting';
import { prepared } from '#kit/prepared-statement';
import { itemIn, type Point, pointOf } from '../codec/compact-item.ts';
import {
  compress,
  DIFFERENCES,
  type Dictionary,
  itemOf,
  WITH_DICTIONARY,
  wholeOf,
  wholeOfZlib,
  ZLIB,
} from '../codec/sample-codec.ts';
import type { StoredItem, StoredPayload } from '../contract.ts';
import { forgetBlocks } from './block-memory.ts';
import { forgetDamaged } from './damaged-rows.ts';
import { forgetKeptBlocks } from './kept-blocks.ts';
import { count, counter, setMetadata } from './metadata.ts';
import { forgetRollups } from './rollups.ts';
import { forgetNames, writePoint } from './sample-points.ts';

export interface Row {
  readonly timestamp: number;
  readonly payload: Buffer;
  readonly item: Buffer | null;
  readonly codec: number;
  readonly dict_id: number | null;
}

export const ROW_COLUMNS = 'timestamp, payload, item, codec, dict_id';

const MS_PER_S = 1_000;
const MINUTE_S = 60;
const DAY_MS = 86_400_000;
/**
 * A dictionary is replaced when two conditions hold. This is the first: samples have become larger than the first ones
 * with the dictionary by this factor.
 */
const WORSE = 1.25;
/**
 * The second: the excess of samples has cost this many times the size of a dictionary. Fewer dictionaries are better,
 * because a chart of a long time reads each of them.
 */
const WORTH = 16;
/** The greatest size of all remembered dictionaries. Once parsed, they take fourteen times as much memory. */
const MAX_REMEMBERED_BYTES = 2 * 1_024 * 1_024;
/** A dictionary that was not used while this many samples were written is forgotten when the next one is remembered. */
const IDLE_SAMPLES = 600;
const FIRST_SAMPLES = 20;
/** The weight of a sample in the running mean of sizes. */
const WEIGHT = 0.05;

/** What the thread knows of its database between calls. */
interface Memory {
  /** The remembered dictionaries by id, in the order in which they were read or made. */
  readonly dictionaries: Map<number, Remembered>;
  rememberedBytes: number;
  /** How many samples were written since the thread began. */
  written: number;
  current: Dictionary | undefined;
  /** When the present dictionary was made, by the performance clock. */
  madeAtMs: number;
  /** The mean size of the first samples with the present dictionary; `meanBytes` is the running mean since. */
  firstBytes: number;
  firstCount: number;
  meanBytes: number;
  /** By how many bytes samples were larger than the first ones, summed. */
  excessBytes: number;
}

interface Remembered {
  readonly dictionary: Dictionary;
  /** The value of `written` when the dictionary was used last. */
  usedAt: number;
}

const memories = new WeakMap<SqliteDatabase, Memory>();

/** Throws an Error when the text is not a sample: not an object, or without a valid time. */
export function parseSample(text: string): { readonly timestamp: number; readonly sample: Record<string, unknown> } {
  const sample: unknown = JSON.parse(text);
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) throw new Error('it is no object');
  const timestamp = secondsOf((sample as Record<string, unknown>).timestamp);
  if (timestamp === undefined) throw new Error('it has no time');
  return { timestamp, sample: { ...sample, timestamp } };
}

/** Unix seconds, from a number, the text of one, or a date; undefined for anything else. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? secondsOfText(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

/** Dates in the form of ISO 8601 only: `Date.parse` finds one in texts such as `run 7` too. */
function secondsOfText(text: string): number | undefined {
  if (/^\s*\d[\d.]*(?:e\+?\d+)?\s*$/i.test(text)) return Number(text);
  return /^\s*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?\s*$/i.test(text)
    ? Date.parse(text.trim()) / MS_PER_S
    : undefined;
}

/** Writes a sample, in place of one of the same time. Runs within a transaction of the caller. */
export function writeSample(db: SqliteDatabase, { timestamp, sample }: ReturnType<typeof parseSample>): void {
  const seq = counter(db, 'seq') + 1;
  keepSample(db, timestamp, sample, seq);
  count(db, 'seq', 1);
}

/** Writes a sample from another store, which does not count as a change. A damaged one is left out. */
export function restoreSample(db: SqliteDatabase, stored: StoredPayload): void {
  const sample = readable(() => sampleOf(rowOf(stored)));
  if (sample !== undefined) keepSample(db, stored.timestamp, sample, null);
}

function keepSample(db: SqliteDatabase, timestamp: number, sample: Record<string, unknown>, seq: number | null): void {
  const whole = Buffer.from(JSON.stringify(sample));
  const dictionary = dictionaryFor(db, sample, whole);
  const stored = compress(sample, whole, dictionary);
  const storedBytes = (stored.item?.length ?? 0) + stored.payload.length;
  noteSize(memoryOf(db), storedBytes);
  const known = prepared(db, 'SELECT raw_size, stored_size FROM metrics_snapshots WHERE timestamp = ?').get(
    timestamp,
  ) as { raw_size: number; stored_size: number } | undefined;
  prepared(
    db,
    `INSERT OR REPLACE INTO metrics_snapshots (timestamp, payload, raw_size, stored_size, created_at, codec, dict_id, item, seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    timestamp,
    stored.payload,
    whole.length,
    storedBytes,
    Date.now() / MS_PER_S,
    stored.codec,
    dictionary.id,
    stored.item,
    seq,
  );
  count(db, 'samples', known === undefined ? 1 : 0);
  count(db, 'raw_bytes', whole.length - (known?.raw_size ?? 0));
  count(db, 'compressed_bytes', storedBytes - (known?.stored_size ?? 0));
  thinAgain(db, timestamp);
  forgetDamaged(db, timestamp);
  keepNumbers(db, timestamp, pointOf(sample));
}

/** Has a late sample thinned out as its neighbours were. A sample is late also when the clock was set back. */
function thinAgain(db: SqliteDatabase, timestamp: number): void {
  const minuteMs = Math.floor(timestamp / MINUTE_S) * MINUTE_S * MS_PER_S;
  if (minuteMs < counter(db, 'thinned_until_ms')) setMetadata(db, 'thinned_until_ms', String(minuteMs));
}

/** Writes the point of a sample and forgets what was made of earlier ones. Runs within a transaction of the caller. */
export function keepNumbers(db: SqliteDatabase, timestamp: number, point: Point): void {
  const atMs = Math.round(timestamp * MS_PER_S);
  writePoint(db, atMs, point);
  forgetRollups(db, atMs);
  forgetBlocks(db, timestamp);
  forgetKeptBlocks(db, timestamp);
}

/** The JSON text of the part that charts need; undefined for a row that is damaged or of an unknown codec. */
export function itemText(db: SqliteDatabase, row: Row): Buffer | undefined {
  return readable(() => itemTextOf(db, row));
}

/** The JSON text of a sample; undefined for a row that is damaged or of an unknown codec. */
export function wholeText(db: SqliteDatabase, row: Row): Buffer | undefined {
  return readable(() => wholeTextOf(db, row));
}

/** The JSON text of a sample from another store; undefined when it is damaged. */
export function payloadText(db: SqliteDatabase, stored: StoredPayload): Buffer | undefined {
  return wholeText(db, rowOf(stored));
}

/** The part of another store's sample that charts need, and its point; undefined when the sample is damaged. */
export function storedItem(stored: StoredItem): { readonly text: Buffer; readonly point: Point } | undefined {
  return readable(() => {
    if (stored.isItem) {
      const text = wholeOfZlib(rowOf(stored).payload);
      // Within a string of an earlier member the quotation marks would be escaped, so this finds the member itself.
      const system = text.subarray(0, text.indexOf(',"dumb_managed":['));
      return { text, point: pointOf(JSON.parse(`${system}}`)) };
    }
    const sample = sampleOf(rowOf(stored));
    return { text: itemIn(sample), point: pointOf(sample) };
  });
}

/** The point of a row of an earlier program; undefined when the row is damaged. */
export function zlibPoint(row: Row): Point | undefined {
  return readable(() => pointOf(sampleOf(row)));
}

/** undefined for a damaged sample, so that it is left out of an answer with others. */
function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function itemTextOf(db: SqliteDatabase, row: Row): Buffer | undefined {
  if (row.codec === ZLIB) return itemIn(sampleOf(row));
  const dictionary = dictionaryOf(db, row);
  return dictionary && itemOf(row, dictionary);
}

function wholeTextOf(db: SqliteDatabase, row: Row): Buffer | undefined {
  if (row.codec === ZLIB) return Buffer.from(JSON.stringify(sampleOf(row)));
  const dictionary = dictionaryOf(db, row);
  return dictionary && wholeOf(row, dictionary);
}

function rowOf({ timestamp, payload }: StoredPayload): Row {
  const { buffer, byteOffset, byteLength } = payload;
  return { timestamp, payload: Buffer.from(buffer, byteOffset, byteLength), item: null, codec: ZLIB, dict_id: null };
}

/**
 * A sample of an earlier program. Its time is that of the row, because not all of these samples have it as a number.
 * Throws an Error when the sample is damaged or nested too deeply.
 */
function sampleOf({ timestamp, payload }: Row): Record<string, unknown> {
  const text = wholeOfZlib(payload).toString();
  refuseCostlyJson(text);
  return { ...(JSON.parse(text) as Record<string, unknown>), timestamp };
}

/** Called after a rollback, which may have undone what is remembered. */
export function forgetMemory(db: SqliteDatabase): void {
  memories.delete(db);
  forgetNames(db);
}

function memoryOf(db: SqliteDatabase): Memory {
  const known = memories.get(db);
  if (known !== undefined) return known;
  const memory: Memory = {
    dictionaries: new Map(),
    rememberedBytes: 0,
    written: 0,
    current: undefined,
    madeAtMs: performance.now(),
    firstBytes: 0,
    firstCount: 0,
    meanBytes: 0,
    excessBytes: 0,
  };
  const sql = 'SELECT id, item, whole FROM metrics_dictionaries ORDER BY id DESC LIMIT 1';
  memory.current = prepared(db, sql).get() as Dictionary | undefined;
  if (memory.current !== undefined) remember(memory, memory.current);
  memories.set(db, memory);
  return memory;
}

function dictionaryOf(db: SqliteDatabase, { codec, dict_id: id }: Row): Dictionary | undefined {
  if ((codec !== WITH_DICTIONARY && codec !== DIFFERENCES) || id === null) return undefined;
  const memory = memoryOf(db);
  const known = memory.dictionaries.get(id);
  if (known !== undefined) {
    known.usedAt = memory.written;
    return known.dictionary;
  }
  const sql = 'SELECT id, item, whole FROM metrics_dictionaries WHERE id = ?';
  const read = prepared(db, sql).get(id) as Dictionary | undefined;
  if (read !== undefined) remember(memory, read);
  return read;
}

function remember(memory: Memory, dictionary: Dictionary): void {
  memory.dictionaries.set(dictionary.id, { dictionary, usedAt: memory.written });
  memory.rememberedBytes += bytesOf(dictionary);
  for (const [id, { dictionary: other, usedAt }] of memory.dictionaries) {
    const isIdle = memory.written - usedAt > IDLE_SAMPLES && id !== memory.current?.id;
    if (id === dictionary.id || (!isIdle && memory.rememberedBytes <= MAX_REMEMBERED_BYTES)) continue;
    memory.dictionaries.delete(id);
    memory.rememberedBytes -= bytesOf(other);
  }
}

function bytesOf({ item, whole }: Dictionary): number {
  return item.length + whole.length;
}

/** Removes the dictionaries that no sample needs any more. Samples that were written later never use an older one. */
export function removeDictionaries(db: SqliteDatabase): void {
  const changed = 'SELECT dict_id FROM metrics_snapshots WHERE seq IS NOT NULL ORDER BY seq LIMIT 1';
  const restored = `SELECT dict_id FROM metrics_snapshots WHERE seq IS NULL AND codec <> ${ZLIB} ORDER BY rowid LIMIT 1`;
  prepared(
    db,
    `DELETE FROM metrics_dictionaries WHERE id < (${changed}) AND id < ifnull((${restored}), ${Number.MAX_SAFE_INTEGER})`,
  ).run();
}

/** The present dictionary; each day, and when samples no longer resemble it, a new one that is made of this sample. */
function dictionaryFor(db: SqliteDatabase, sample: Record<string, unknown>, whole: Buffer): Dictionary {
  const memory = memoryOf(db);
  const { current } = memory;
  const isWorse = memory.firstCount === FIRST_SAMPLES && memory.meanBytes > memory.firstBytes * WORSE;
  const room = current === undefined ? 0 : bytesOf(current);
  const isWorth = memory.excessBytes > room * WORTH;
  const isOld = performance.now() - memory.madeAtMs > DAY_MS;
  if (current !== undefined && !(isWorse && isWorth) && !isOld) return current;
  const item = itemIn(sample);
  const { lastInsertRowid } = prepared(db, 'INSERT INTO metrics_dictionaries (item, whole) VALUES (?, ?)').run(
    item,
    whole,
  );
  const made = { id: Number(lastInsertRowid), item, whole };
  const last = current && memory.dictionaries.get(current.id);
  if (last !== undefined) last.usedAt = memory.written;
  const anew = { firstBytes: 0, firstCount: 0, meanBytes: 0, excessBytes: 0 };
  Object.assign(memory, { current: made, madeAtMs: performance.now(), ...anew });
  remember(memory, made);
  return made;
}

function noteSize(memory: Memory, bytes: number): void {
  memory.written += 1;
  if (memory.firstCount < FIRST_SAMPLES) {
    memory.firstBytes += (bytes - memory.firstBytes) / (memory.firstCount + 1);
    memory.firstCount += 1;
    memory.meanBytes = memory.firstBytes;
    return;
  }
  memory.meanBytes += (bytes - memory.meanBytes) * WEIGHT;
  memory.excessBytes = Math.max(0, memory.excessBytes + bytes - memory.firstBytes);
}
