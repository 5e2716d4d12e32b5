// Follows the primary: reads its list, and asks for each request that is missing from it. A request counts as deleted
// only when the primary itself has answered so.
import { judgeSuspects, primaryIds, SWEEP_MS } from './deletions.ts';
import { fingerprintOf, mediaOf } from './fingerprint.ts';
import type { Group } from './group.ts';
import { isFor, unsure } from './holding.ts';
import { type Reading, readChanges, readList } from './primary-list.ts';
import { PrimaryRequests } from './primary-requests.ts';
import { RemoteError } from './remote-error.ts';
import { type RemoteRequest, union } from './remote-request.ts';
import type { RequestManager } from './request-manager.ts';
import { forEachInSlices } from './slices.ts';
import { type State, type Tracked, timestamp } from './state.ts';

export interface PrimaryParts {
  readonly label: string;
  readonly manager: RequestManager;
  readonly state: State;
  readonly settings: PrimarySettings;
  readonly nowMs: () => number;
}

export interface PrimarySettings {
  readonly sync_4k_separately: boolean;
  readonly sync_deletes: boolean;
}

/** A request that is missing from the list: null when it is deleted, `absent` when the primary does not answer. */
type Found = RemoteRequest | 'unclear' | 'absent' | null;

export class Primary {
  readonly #with: PrimaryParts;
  #known: PrimaryRequests;

  constructor(parts: PrimaryParts) {
    this.#with = parts;
    this.#known = new PrimaryRequests(parts.settings.sync_4k_separately);
  }

  get fingerprints(): Iterable<string> {
    return this.#known.fingerprints;
  }

  group(fingerprint: string): Group | undefined {
    return this.#known.group(fingerprint);
  }

  /**
   * Brings the known requests and the state up to date. Returns why the reading is incomplete, or null. Throws a
   * RemoteError when nothing could be read; then nothing has changed.
   */
  async read(): Promise<RemoteError | null> {
    const { state, label } = this.#with;
    const isAnother = state.meta.primary !== null && state.meta.primary !== label;
    const changes = this.#isSweepDue() || isAnother ? undefined : await this.#readChanges();
    const reading = changes ?? (await readList(this.#with.manager));
    const { fault } = reading;
    if (fault !== undefined && reading.total === null) throw fault;
    if (isAnother) this.#dropDeletions();
    if (fault !== undefined) {
      this.#takePart(reading);
      if (!isAnother) await this.#track();
      return fault;
    }
    this.#note(reading, changes === undefined);
    if (changes === undefined) await this.#replace(reading, isAnother);
    else for (const request of changes.requests) this.#known.take(request);
    await this.#track();
    return null;
  }

  /** Takes over what an incomplete reading has brought; what it lacks is not asked for. */
  #takePart({ requests }: Reading): void {
    for (const request of requests) this.#known.take(request);
    this.#known.judge(false, new Set());
  }

  #isSweepDue(): boolean {
    const { state, nowMs } = this.#with;
    const sinceMs = nowMs() - Date.parse(state.meta.last_full_sweep ?? '');
    return !this.#known.isComplete || !(sinceMs >= 0 && sinceMs < SWEEP_MS) || state.meta.watermark === null;
  }

  /** undefined when the whole list must be read, because it became shorter or is not empty any more. */
  async #readChanges(): Promise<Reading | undefined> {
    const { watermark, last_total: lastTotal, holds } = this.#with.state.meta;
    const isKnown = ({ id, updatedAtMs, status }: RemoteRequest): boolean => {
      const known = this.#known.get(id);
      return updatedAtMs > 0 && known?.updatedAtMs === updatedAtMs && known.status === status;
    };
    const changes = await readChanges(this.#with.manager, Date.parse(watermark ?? ''), isKnown);
    const { total } = changes;
    const isShorter = total !== null && lastTotal !== null && total < lastTotal;
    return isShorter || (holds?.kind === 'empty' && total !== 0) ? undefined : changes;
  }

  #note({ requests, total }: Reading, isSweep: boolean): void {
    const { state, nowMs } = this.#with;
    const { meta } = state;
    const newestMs = requests.reduce((newest, { updatedAtMs }) => Math.max(newest, updatedAtMs), 0);
    const earlierMs = isSweep ? 0 : Date.parse(meta.watermark ?? '');
    meta.watermark = timestamp(Math.max(newestMs, earlierMs));
    meta.last_total = total;
    state.last_poll_ts = timestamp(nowMs());
    if (isSweep) meta.last_full_sweep = state.last_poll_ts;
  }

  /** Replaces the known requests by a whole list, and asks for requests that are missing from it. */
  async #replace({ requests, ids, total }: Reading, isAnother: boolean): Promise<void> {
    const { state, label, settings, nowMs } = this.#with;
    const { meta } = state;
    const known = new PrimaryRequests(settings.sync_4k_separately);
    await forEachInSlices(requests, request => known.take(request));
    this.#known = known;
    if (isAnother) await this.#change();
    meta.primary = label;
    const suspects: string[] = [];
    let tracked = 0;
    await forEachInSlices(state.requests, ([fingerprint, entry]) => {
      if (entry.deleted === true) return;
      tracked += 1;
      if (!primaryIds(entry).some(id => ids.has(id))) suspects.push(fingerprint);
    });
    const look = { suspects, tracked, total: total ?? 0, areDeletesOn: settings.sync_deletes, holds: meta.holds };
    const { released, holds } = judgeSuspects({ ...look, nowMs: nowMs() });
    meta.holds = holds;
    const unclear = new Set(suspects);
    for (const fingerprint of released) unclear.delete(fingerprint);
    const missing: { readonly id: number; readonly fingerprint: string; readonly entry: Tracked }[] = [];
    await forEachInSlices(state.requests, ([fingerprint, entry]) => {
      if (entry.deleted === true || unclear.has(fingerprint)) return;
      for (const id of primaryIds(entry)) if (!ids.has(id)) missing.push({ id, fingerprint, entry });
    });
    let isAbsent = false;
    for (const { id, fingerprint, entry } of missing) {
      const found: Found = isAbsent ? 'absent' : await this.#ask(id, fingerprint);
      isAbsent = found === 'absent';
      if (found === null) this.#withdraw(id, fingerprint, entry);
      else if (typeof found === 'object') known.take(found);
      else unclear.add(fingerprint);
    }
    known.judge(true, unclear);
  }

  /** Asks for one request that is missing from the list. */
  async #ask(id: number, fingerprint: string): Promise<Found> {
    try {
      const request = await this.#with.manager.request(id);
      if (request === null) return null;
      return request !== undefined && this.#isOf(request, fingerprint) ? request : 'unclear';
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      return error.isAbsence ? 'absent' : 'unclear';
    }
  }

  /** Notes that the primary has deleted one request of a fingerprint. */
  #withdraw(id: number, fingerprint: string, entry: Tracked): void {
    const ids = primaryIds(entry).filter(other => other !== id);
    if (ids.length > 0) setIds(entry, ids);
    else if (this.#known.group(fingerprint) === undefined) {
      if (Object.keys(entry.subordinates).length === 0) this.#with.state.requests.delete(fingerprint);
      else entry.deleted = true;
    } else doubt(entry);
  }

  #isOf(request: RemoteRequest, fingerprint: string): boolean {
    const media = mediaOf(fingerprint);
    const is4kSeparate = this.#with.settings.sync_4k_separately;
    return fingerprintOf(request, is4kSeparate) === fingerprint || (media !== undefined && isFor(request, media));
  }

  /** Brings the tracked fingerprints in line with the known requests. */
  async #track(): Promise<void> {
    await forEachInSlices(this.#with.state.requests, ([fingerprint, entry]) => {
      const group = this.#known.group(fingerprint);
      if (group === undefined) return;
      if (entry.deleted === true) {
        delete entry.deleted;
        setIds(entry, group.ids);
        doubt(entry);
      }
      const known = primaryIds(entry);
      if (group.ids.some(id => !known.includes(id))) setIds(entry, union(known, group.ids));
      if (group.mediaType === 'tv') entry.seasons = group.seasons;
    });
  }

  /** After a change of the primary: forgets requests that the new one does not have. The subordinates keep them. */
  async #change(): Promise<void> {
    const { requests, meta } = this.#with.state;
    meta.holds = null;
    await forEachInSlices([...requests], ([fingerprint, entry]) => {
      const group = this.#known.group(fingerprint);
      if (group === undefined) requests.delete(fingerprint);
      else setIds(entry, group.ids);
    });
  }

  #dropDeletions(): void {
    const { requests } = this.#with.state;
    for (const [fingerprint, { deleted }] of requests) if (deleted === true) requests.delete(fingerprint);
  }
}

/** `ids` must be sorted. */
function setIds(entry: Tracked, ids: readonly number[]): void {
  entry.primary_ids = ids;
  entry.primary_id = ids.at(-1) ?? entry.primary_id;
}

function doubt({ subordinates }: Tracked): void {
  for (const [label, holding] of Object.entries(subordinates)) subordinates[label] = unsure(holding);
}
