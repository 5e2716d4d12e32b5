// Samples in the database: written with their numbers, read as the texts that they were.
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
/** A dictionary is replaced when samples become this much larger than its first ones were, */
const WORSE = 1.25;
/** and when that has cost this many times the room of a new one, because charts of a long time read each of them. */
const WORTH = 16;
/** Bytes of all remembered dictionaries. Once they are taken apart, they take fourteen times as much. */
const MAX_REMEMBERED_BYTES = 2 * 1_024 * 1_024;
/** One that nobody has read a sample by while so many were written is forgotten with the next that is remembered. */
const IDLE_SAMPLES = 600;
const FIRST_SAMPLES = 20;
/** How much a sample counts in the running mean of sizes. */
const WEIGHT = 0.05;

/** What the thread knows of its database between calls. */
interface Memory {
  /** By id, in the order in which they were read or made. */
  readonly dictionaries: Map<number, Remembered>;
  rememberedBytes: number;
  /** Samples, since the thread began. */
  written: number;
  current: Dictionary | undefined;
  /** Of the performance clock. */
  madeAtMs: number;
  /** Bytes of the first samples with the present dictionary, and of the latest ones, on the average. */
  firstBytes: number;
  firstCount: number;
  meanBytes: number;
  /** By how much samples were larger than the first ones, all together. */
  excessBytes: number;
}

interface Remembered {
  readonly dictionary: Dictionary;
  /** How many samples were written when it was needed last. */
  usedAt: number;
}

const memories = new WeakMap<SqliteDatabase, Memory>();

/** Throws an Error when the text is no sample: no object, or without a time. */
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

function secondsOfText(text: string): number {
  return /^\s*[\d.]+\s*$/.test(text) ? Number(text) : Date.parse(text) / MS_PER_S;
}

/** Writes a sample, in place of one of the same time. Runs within a transaction of the caller. */
export function writeSample(db: SqliteDatabase, { timestamp, sample }: ReturnType<typeof parseSample>): void {
  const seq = counter(db, 'seq') + 1;
  keepSample(db, timestamp, sample, seq);
  count(db, 'seq', 1);
}

/** Writes a sample that another store holds, without the number of a change; not one that is damaged. */
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
  keepNumbers(db, timestamp, pointOf(sample));
}

/** What comes late, also because a clock was set back, is thinned out as its neighbours were. */
function thinAgain(db: SqliteDatabase, timestamp: number): void {
  const minuteMs = Math.floor(timestamp / MINUTE_S) * MINUTE_S * MS_PER_S;
  if (minuteMs < counter(db, 'thinned_until_ms')) setMetadata(db, 'thinned_until_ms', String(minuteMs));
}

/** Numbers of samples that an earlier program wrote; runs within a transaction of the caller. */
export function keepNumbers(db: SqliteDatabase, timestamp: number, point: Point): void {
  const atMs = Math.round(timestamp * MS_PER_S);
  writePoint(db, atMs, point);
  forgetRollups(db, atMs);
  forgetBlocks(db, timestamp);
  forgetKeptBlocks(db, timestamp);
}

/** The JSON text of the part that charts need; undefined for a row that is damaged or in a form that is not known. */
export function itemText(db: SqliteDatabase, row: Row): Buffer | undefined {
  return readable(() => itemTextOf(db, row));
}

/** The JSON text of a sample; undefined for a row that is damaged or in a form that is not known. */
export function wholeText(db: SqliteDatabase, row: Row): Buffer | undefined {
  return readable(() => wholeTextOf(db, row));
}

/** The JSON text of a sample that another store keeps by zlib; undefined when it is damaged. */
export function payloadText(db: SqliteDatabase, stored: StoredPayload): Buffer | undefined {
  return wholeText(db, rowOf(stored));
}

/** The part of such a sample that charts need, and its numbers; undefined when it is damaged. */
export function storedItem(stored: StoredItem): { readonly text: Buffer; readonly point: Point } | undefined {
  return readable(() => {
    if (stored.isItem) {
      const text = wholeOfZlib(rowOf(stored).payload);
      // No text within the members before it can look like this, because its quotation marks would be escaped.
      const system = text.subarray(0, text.indexOf(',"dumb_managed":['));
      return { text, point: pointOf(JSON.parse(`${system}}`)) };
    }
    const sample = sampleOf(rowOf(stored));
    return { text: itemIn(sample), point: pointOf(sample) };
  });
}

/** The numbers of a row of an earlier program; undefined when it is damaged. */
export function zlibPoint(row: Row): Point | undefined {
  return readable(() => pointOf(sampleOf(row)));
}

/** A damaged sample is left out; the others are still told. */
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
 * The time of an earlier program's sample is that of its row, because not all of them hold it as a number. Throws an
 * Error for one that is damaged, or nested too deep for those who read it.
 */
function sampleOf({ timestamp, payload }: Row): Record<string, unknown> {
  const text = wholeOfZlib(payload).toString();
  refuseCostlyJson(text);
  return { ...(JSON.parse(text) as Record<string, unknown>), timestamp };
}

/** What was remembered may have been taken back with a transaction. */
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

/** Removes the dictionaries that no sample needs any more: samples use them in the order in which they are written. */
export function removeDictionaries(db: SqliteDatabase): void {
  const changed = 'SELECT dict_id FROM metrics_snapshots WHERE seq IS NOT NULL ORDER BY seq LIMIT 1';
  const restored = `SELECT dict_id FROM metrics_snapshots WHERE seq IS NULL AND codec <> ${ZLIB} ORDER BY rowid LIMIT 1`;
  prepared(
    db,
    `DELETE FROM metrics_dictionaries WHERE id < (${changed}) AND id < ifnull((${restored}), ${Number.MAX_SAFE_INTEGER})`,
  ).run();
}

/** The present dictionary, or a new one made of this sample: daily, and when samples no longer resemble the old one. */
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
