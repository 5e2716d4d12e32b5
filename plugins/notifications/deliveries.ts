// Sends queued messages: claims deliveries that are due, makes the attempts, and writes their results.
import { setTimeout as delay } from 'node:timers/promises';
import type { ContributionList, Host } from '#core';
import { MAX_TIMER_MS } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { isObject } from '#kit/plain-object';
import { type AttemptAccess, attempt } from './attempt.ts';
import type { DeliveryOutcome, NotificationDestination } from './contract.ts';
import { type FoundDestination, findDestination } from './destinations.ts';
import { Lanes } from './lanes.ts';
import type { ClaimedDelivery, DeliveryRecord, FinishedAttempt, WorkRequest } from './queue-statements.ts';
import type { QueueStore } from './queue-store.ts';
import { type ManualMessage, manualEvent } from './queued-event.ts';
import { ReachedTargets } from './reached-targets.ts';
import { askedPause, pauseAfter, type RetryPolicy } from './retry.ts';
import { type DestinationSettings, hasAllDestinations, type NotificationSettings } from './settings.ts';
import { severityOf } from './severity.ts';

const LANE_PAUSE_MS = 1_000;
const TELL_MS = 1_000;
const TEST_WAIT_MS = 15_000;
const MS_PER_S = 1_000;

export interface DeliveriesOptions {
  readonly store: QueueStore;
  readonly destinations: ContributionList<NotificationDestination>;
  settings(): NotificationSettings;
  policy(): RetryPolicy;
  isStarted(): boolean;
}

interface AttemptResult {
  readonly outcome: DeliveryOutcome;
  readonly isFinal: boolean;
  /** The parts and targets that a repetition skips, as text of `ReachedTargets`. */
  readonly reached: string | null;
}

export class Deliveries {
  readonly #host: Host;
  readonly #with: DeliveriesOptions;
  readonly #lanes: Lanes;
  readonly #access: AttemptAccess;
  readonly #ended = new AbortController();
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #told: { readonly destinations: unknown; readonly atMs: number } = { destinations: undefined, atMs: 0 };
  /** Results that were not handed to the store yet; `#beingWritten` has those that the store has not confirmed. */
  #finished: FinishedAttempt[] = [];
  readonly #beingWritten = new Set<FinishedAttempt>();
  readonly #attempts = { completed: 0, failed: 0, retrying: 0 };
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  #isAwaited = false;
  #isStopping = false;

  constructor(host: Host, options: DeliveriesOptions) {
    this.#host = host;
    this.#with = options;
    this.#lanes = new Lanes(host.paced(LANE_PAUSE_MS));
    this.#access = {
      fetch: (url, request) => host.fetch(url, { ...request, isAwaitedByDisposer: true }),
      userAgent: `Stackwarden/${host.version}`,
      signal: this.#ended.signal,
    };
  }

  /** Attempts since the host started, by their outcome. */
  get attempts(): Readonly<Record<FinishedAttempt['status'], number>> {
    return this.#attempts;
  }

  inFlight(): readonly string[] {
    return [...this.#inFlight.keys(), ...[...this.#finished, ...this.#beingWritten].map(({ id }) => id)];
  }

  /** Looks for work now: something was queued, or the settings have changed. */
  wake(): void {
    this.#isAwaited = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#isAwaited && this.#with.store.isUsable && !this.#isStopping) this.wake();
    });
  }

  /** Sends a test at once, in a single attempt. Resolves with its record, which after 15 s may be unfinished. */
  async test(destination: DestinationSettings, message: ManualMessage): Promise<DeliveryRecord> {
    const { store } = this.#with;
    const event = manualEvent(message, [destination]);
    const [target] = event.targets;
    if (target === undefined) throw new Error('a test has no target');
    const args = { event, target, bootId: store.bootId, now: event.createdAt };
    const row = await store.ask('addTest', args);
    if (row === undefined) throw new Error('a test was not written');
    const made = this.#deliver(row, { isSingle: true });
    const stop = new AbortController();
    await Promise.race([made, delay(TEST_WAIT_MS, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
    const after = await store.ask('record', row.id);
    return after ?? row;
  }

  /** Claims nothing more, waits up to `waitMs` for attempts, and gives back the claims of those that are not over. */
  async stop(waitMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const stop = new AbortController();
    const all = Promise.all([this.#working, ...this.#inFlight.values()]);
    await Promise.race([all, delay(waitMs, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
    this.#ended.abort();
    const { store } = this.#with;
    if (!store.isUsable) return;
    // Claims that cannot be given back now count as interrupted attempts at the next start.
    await this.#writeFinished().catch(() => undefined);
    await store.write('release', { bootId: store.bootId, now: Date.now() / MS_PER_S }).catch(() => undefined);
  }

  async #work(): Promise<void> {
    this.#isAwaited = false;
    clearTimeout(this.#timer);
    const { store, settings, isStarted } = this.#with;
    if (this.#isStopping || !store.isUsable) return;
    const { enabled, destinations } = settings();
    const on = destinations.filter(destination => destination.enabled).map(({ id }) => id);
    const lookedAtMs = performance.now();
    const lanes = this.#lanes.free(on, lookedAtMs);
    try {
      const { claimed, nextAt } = await this.#handOver(finished =>
        store.write('claim', {
          bootId: store.bootId,
          now: Date.now() / MS_PER_S,
          isOpen: enabled && isStarted(),
          all: this.#all(lookedAtMs),
          finished,
          ...lanes,
        }),
      );
      if (this.#isStopping) return;
      for (const row of claimed) this.#begin(row);
      this.#planNext(nextAt, lookedAtMs);
    } catch (error) {
      // An unusable store has logged why, and wakes this when it can be used again.
      if (store.isUsable) this.#host.log.error('notifications cannot be sent', error);
    }
  }

  /** All destinations, after a change or `TELL_MS`; else null, because the store checks its whole queue for them. */
  #all(nowMs: number): WorkRequest['all'] {
    const { destinations } = this.#with.settings();
    if (destinations === this.#told.destinations && nowMs - this.#told.atMs < TELL_MS) return null;
    this.#told = { destinations, atMs: nowMs };
    const disabled = destinations.filter(({ enabled }) => !enabled).map(({ id }) => id);
    const isWhole = hasAllDestinations(this.#host.use('config.store'));
    return { known: isWhole ? destinations.map(({ id }) => id) : null, disabled };
  }

  #begin(row: ClaimedDelivery): void {
    const id = row.destination_id;
    this.#lanes.begin(id, performance.now());
    void this.#deliver(row, { isSingle: false }).then(askedSec => {
      this.#lanes.end(id, performance.now(), askedPause(askedSec ?? 0) * MS_PER_S);
      this.wake();
    });
  }

  /** Sets the timer for the time when the next delivery is due or another lane becomes free. */
  #planNext(nextAt: number | null, lookedAtMs: number): void {
    const dueMs = nextAt === null ? undefined : Math.max(nextAt * MS_PER_S - Date.now(), 1);
    const freeAtMs = this.#lanes.nextAfter(lookedAtMs);
    const laneMs = freeAtMs === undefined ? undefined : Math.max(freeAtMs - performance.now(), 1);
    const waits = [dueMs, laneMs].filter(wait => wait !== undefined);
    if (waits.length === 0) return;
    this.#timer = setTimeout(() => this.wake(), Math.min(...waits, MAX_TIMER_MS)).unref();
  }

  /** Makes one attempt. Resolves with the pause that the receiver asks for, in seconds. */
  #deliver(row: ClaimedDelivery, options: { readonly isSingle: boolean }): Promise<number | undefined> {
    const made = this.#attemptAndWrite(row, options).finally(() => this.#inFlight.delete(row.id));
    this.#inFlight.set(row.id, made);
    return made;
  }

  async #attemptAndWrite(
    row: ClaimedDelivery,
    { isSingle }: { readonly isSingle: boolean },
  ): Promise<number | undefined> {
    const result = await this.#attempt(row);
    const { outcome } = result;
    if (this.#ended.signal.aborted && !outcome.ok) return undefined;
    const finished = this.#resultOf(row, { ...result, isSingle });
    this.#attempts[finished.status] += 1;
    this.#finished.push(finished);
    // Other results are written together with the next claim. The store reports its faults; results wait until it can
    // be used again.
    if (isSingle || this.#isStopping) await this.#writeFinished().catch(() => undefined);
    return outcome.ok ? undefined : outcome.retryAfterSec;
  }

  /** The result of one attempt. It is final when another attempt could not succeed. */
  async #attempt(row: ClaimedDelivery): Promise<AttemptResult> {
    const failed = (error: string, isFinal = true): AttemptResult => ({
      outcome: { ok: false, error },
      isFinal,
      reached: row.reached,
    });
    const destination = this.#with.settings().destinations.find(({ id }) => id === row.destination_id);
    if (destination === undefined) return failed('Destination no longer exists.');
    const { provider, url: text, headers, verify_tls: verifyTls } = destination;
    if (text === '') return failed('Destination has no configured URL.');
    let found: FoundDestination;
    try {
      found = findDestination(this.#with.destinations, { provider, text, headers });
    } catch (error) {
      return failed(errorText(error), this.#hasAllPlugins());
    }
    const facts = {
      deliveryId: row.id,
      eventId: row.event_id,
      eventType: row.event_type,
      severity: severityOf(row.severity),
      title: row.title,
      body: row.body,
      serviceName: row.service_name,
      timestamp: row.created_at,
      attempt: row.attempts + 1,
      metadata: metadataOf(row),
    };
    const { store } = this.#with;
    const reached = new ReachedTargets({
      deliveryId: row.id,
      url: text,
      noted: row.reached,
      // A failed write is ignored, because the result of the attempt has the text too.
      note: known => void store.write('note', { id: row.id, reached: known }).catch(() => undefined),
    });
    const outcome = await attempt(found.destination, found.url, facts, this.#access, { verifyTls, reached });
    return { outcome, isFinal: false, reached: reached.text };
  }

  /** Whether no plugin is being loaded: only then a missing type of destinations is missing for good. */
  #hasAllPlugins(): boolean {
    return this.#host.plugins().every(({ state }) => state === 'ready' || state === 'disabled');
  }

  #resultOf(
    { id, attempts: earlier }: DeliveryRecord,
    { outcome, isFinal, isSingle, reached }: AttemptResult & { readonly isSingle: boolean },
  ): FinishedAttempt {
    const now = Date.now() / MS_PER_S;
    const attempts = earlier + 1;
    const over = { id, attempts, nextAttemptAt: now, reached: null, now } as const;
    if (outcome.ok) return { ...over, status: 'completed', error: null };
    const { error } = outcome;
    if (isFinal) return { ...over, status: 'failed', attempts: earlier, error };
    const pause = isSingle ? null : pauseAfter(attempts, this.#with.policy(), outcome.retryAfterSec);
    if (pause === null) return { ...over, status: 'failed', error };
    return { ...over, status: 'retrying', error, nextAttemptAt: now + pause, reached };
  }

  async #writeFinished(): Promise<void> {
    if (this.#finished.length > 0) await this.#handOver(finished => this.#with.store.write('finish', finished));
  }

  /** Writes all results once; those that cannot be written wait for the next time. */
  async #handOver<Result>(write: (finished: readonly FinishedAttempt[]) => Promise<Result>): Promise<Result> {
    const finished = this.#finished;
    this.#finished = [];
    for (const result of finished) this.#beingWritten.add(result);
    try {
      return await write(finished);
    } catch (error) {
      this.#finished = [...finished, ...this.#finished];
      throw error;
    } finally {
      for (const result of finished) this.#beingWritten.delete(result);
    }
  }
}

/** The metadata of a row; empty when an earlier program wrote something other than an object. */
export function metadataOf({ metadata_json: text }: Pick<DeliveryRecord, 'metadata_json'>): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
