// The state of replication, with the members of its file: the tracked requests, what each subordinate holds of them,
// and failures. Unknown members of the file stay as they are.
import { bareObject, isObject } from '#kit/plain-object';
import type { Holding } from './holding.ts';
import { isPositive } from './remote-request.ts';
import { forEachInSlices } from './slices.ts';

export interface Tracked {
  /** The newest of `primary_ids`. */
  primary_id: number;
  /** Absent in entries of an earlier program. */
  primary_ids?: readonly number[];
  seasons?: readonly number[];
  /** Whether all its requests are deleted on the primary while subordinates still hold some. */
  deleted?: boolean;
  /** The holdings of subordinates by label. */
  readonly subordinates: Record<string, Holding>;
}

export interface Failure {
  failed_at: string;
  readonly error: string;
  readonly media_type: string;
  readonly tmdb_id: number | null;
  readonly attempts?: number;
}

/** Deletions that are held, because too many requests are missing at once. */
export interface Holds {
  /** `empty` means that the primary showed no request at all. */
  readonly kind: 'many' | 'empty';
  /** Fingerprints that were missing in each sweep. */
  readonly fingerprints: readonly string[];
  /** The times of the sweeps that count, at least 15 minutes apart. */
  readonly sweeps: readonly string[];
  /** Whether deletions were switched off meanwhile; when they are switched on again, the held ones go on. */
  readonly isSwitchedOff?: boolean;
}

interface Meta {
  version: number;
  /** The label of the primary, by which another primary is noticed. */
  primary: string | null;
  /** The newest change of a request that was read, on the clock of the primary. */
  watermark: string | null;
  last_full_sweep: string | null;
  last_total: number | null;
  labels: Record<string, string>;
  holds: Holds | null;
}

export interface State {
  last_poll_ts: string | null;
  /** By fingerprint. */
  readonly requests: Map<string, Tracked>;
  /** By `<fingerprint>||<label>`. */
  readonly failed: Map<string, Failure>;
  readonly meta: Meta;
  /** Unknown members of the file. */
  readonly others: Readonly<Record<string, unknown>>;
}

const VERSION = 1;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const SEPARATOR = '||';

export function emptyState(): State {
  const meta: Meta = {
    version: VERSION,
    primary: null,
    watermark: null,
    last_full_sweep: null,
    last_total: null,
    labels: bareObject(),
    holds: null,
  };
  return { last_poll_ts: null, requests: new Map(), failed: new Map(), meta, others: {} };
}

/**
 * The state in the content of a file, also of an earlier program. Entries that cannot be used are left out. The state
 * takes over objects of the content. Throws an Error when the content is not a state.
 */
export async function stateFrom(content: unknown): Promise<State> {
  if (!isObject(content)) throw new Error('it is no object');
  const { last_poll_ts, requests = {}, failed = {}, meta, ...others } = content;
  if (!isObject(requests) || !isObject(failed)) throw new Error('its requests or failures are no objects');
  const state: State = { ...emptyState(), last_poll_ts: timeOf(last_poll_ts), others };
  await forEachInSlices(Object.keys(requests), fingerprint => {
    const entry = requests[fingerprint];
    if (isTracked(entry)) state.requests.set(fingerprint, entry);
  });
  for (const [key, entry] of Object.entries(failed)) {
    if (!isObject(entry) || typeof entry.error !== 'string') continue;
    state.failed.set(key, { ...entry, failed_at: timeOf(entry.failed_at) ?? '' } as Failure);
  }
  Object.assign(state.meta, isObject(meta) ? metaFrom(meta) : {});
  return state;
}

export function failureKey(fingerprint: string, label: string): string {
  return fingerprint + SEPARATOR + label;
}

/** The fingerprint and the label. */
export function partsOfKey(key: string): readonly [string, string] {
  const at = key.indexOf(SEPARATOR);
  return at === -1 ? [key, ''] : [key.slice(0, at), key.slice(at + SEPARATOR.length)];
}

/** UTC, without fractions. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Whether the entry can be used. Removes members that are not valid. */
function isTracked(entry: unknown): entry is Tracked {
  if (!isObject(entry) || !isPositive(entry.primary_id)) return false;
  keepNumbers(entry, 'primary_ids');
  keepNumbers(entry, 'seasons');
  if (entry.deleted !== true && entry.deleted !== undefined) delete entry.deleted;
  const held = isObject(entry.subordinates) ? entry.subordinates : {};
  for (const [label, holding] of Object.entries(held)) if (!isHolding(holding)) delete held[label];
  // Without a prototype, because users choose the labels, and one may be `constructor`.
  entry.subordinates = Object.setPrototypeOf(held, null);
  return true;
}

function isHolding(entry: unknown): entry is Holding {
  if (!isObject(entry) || !Number.isSafeInteger(entry.id) || Number(entry.id) < 0) return false;
  if (!Number.isSafeInteger(entry.status)) entry.status = 0;
  if (typeof entry.synced_at !== 'string' || !TIME.test(entry.synced_at))
    entry.synced_at = timeOf(entry.synced_at) ?? '';
  keepNumbers(entry, 'ids');
  keepNumbers(entry, 'seasons');
  if (entry.adopted !== true && entry.adopted !== undefined) delete entry.adopted;
  if (entry.gone !== true && entry.gone !== undefined) delete entry.gone;
  if (entry.unsure !== true && entry.unsure !== undefined) delete entry.unsure;
  return true;
}

function keepNumbers(entry: Record<string, unknown>, name: string): void {
  const numbers = entry[name];
  if (numbers === undefined) return;
  if (!Array.isArray(numbers) || !numbers.every(member => Number.isSafeInteger(member))) delete entry[name];
}

function metaFrom({
  primary,
  watermark,
  last_full_sweep,
  last_total,
  labels,
  holds,
  ...others
}: object & Partial<Meta>): object {
  const texts = Object.entries(isObject(labels) ? labels : {}).filter(([, address]) => typeof address === 'string');
  const isHeld = isObject(holds) && Array.isArray(holds.fingerprints) && Array.isArray(holds.sweeps);
  return {
    ...others,
    version: VERSION,
    primary: typeof primary === 'string' ? primary : null,
    watermark: timeOf(watermark),
    last_full_sweep: timeOf(last_full_sweep),
    last_total: Number.isSafeInteger(last_total) ? last_total : null,
    labels: bareObject(texts as [string, string][]),
    holds: isHeld ? holds : null,
  };
}

/** An earlier program wrote some times with an offset in place of `Z`, and fractions. */
function timeOf(value: unknown): string | null {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) return null;
  return TIME.test(value) ? value : timestamp(Date.parse(value));
}
