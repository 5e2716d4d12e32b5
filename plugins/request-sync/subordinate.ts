// Carries out the steps of the decision table on one subordinate, one fingerprint after the other, and notes the
// results in the state.
import { bareObject } from '#kit/plain-object';
import { type Creation, decide, type Purpose, type Step, type SyncOptions, type View } from './decide.ts';
import { mediaOf } from './fingerprint.ts';
import type { Group } from './group.ts';
import { type Holding, isFor, unsure, withCreated, withFound, withoutRequest, withoutSeasons } from './holding.ts';
import { RemoteError, shortLine } from './remote-error.ts';
import { type Media, REQUEST_STATUS, type RemoteRequest, type RemoteUser, type Title } from './remote-request.ts';
import type { NewRequest, RequestManager } from './request-manager.ts';
import { retryAtMs } from './retry.ts';
import { type Failure, failureKey, partsOfKey, type State, timestamp } from './state.ts';

const MAX_CREATIONS = 200;
/** How long a subordinate may take in a cycle, so that the others and the primary get their turn again. */
const TURN_MS = 60_000;
/** How many pages are searched for an existing request that the title does not list. */
const MAX_PAGES = 10;
/** More than any fingerprint needs, whatever a subordinate answers. */
const MAX_STEPS = 200;
const USERS_MS = 600_000;

const NO_REQUESTS: ReadonlyMap<number, RemoteRequest | null> = new Map();
const NOTHING_SEEN: View = { requests: NO_REQUESTS };

export interface SubordinateParts {
  readonly label: string;
  readonly manager: RequestManager;
  readonly state: State;
  readonly settings: SubordinateSettings;
  readonly group: (fingerprint: string) => Group | undefined;
  /** Called after each change of the state. Rejects when that cannot be saved; then no further call is made. */
  readonly changed: () => Promise<void>;
  readonly nowMs: () => number;
  /** The time after which no further fingerprint is begun in a cycle. Default a minute. */
  readonly turnMs?: number;
}

export interface SubordinateSettings extends SyncOptions {
  readonly retry_failed_after_hours: number;
}

/**
 * `more` means that the limit of creations or of time was reached and new work is left, `absent` that the subordinate
 * does not answer, `key` that it refuses its key.
 */
export type Outcome = 'done' | 'more' | 'absent' | 'key';

/** Thrown to end the work on a subordinate in a cycle. */
class End extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause?: unknown) {
    super(outcome, { cause });
    this.outcome = outcome;
  }
}

export class Subordinate {
  /** Whether, since this was set to false, a request that is pending on the primary was found approved here. */
  approvesItself = false;
  readonly #with: SubordinateParts;
  #creations = 0;
  /** How many changes of the state there were in this cycle. */
  #changes = 0;
  /** The key of the last failure if it was a lost connection, and the failure that it has replaced. */
  #loss: { readonly key: string; readonly before: Failure | undefined } | undefined;
  #users: { readonly list: readonly RemoteUser[]; readonly atMs: number } | undefined;

  constructor(parts: SubordinateParts) {
    this.#with = parts;
  }

  get label(): string {
    return this.#with.label;
  }

  /** Whether something is to be done about the fingerprint now, not at all, or later. Makes no calls. */
  plan(fingerprint: string): 'due' | 'settled' | 'waiting' {
    const step = this.#decide(fingerprint, NOTHING_SEEN);
    if (step === undefined) return 'settled';
    return isDelete(step) || this.#mayRetry(failureKey(fingerprint, this.#with.label)) ? 'due' : 'waiting';
  }

  /** When the fingerprint last failed; empty when it did not. */
  failedAt(fingerprint: string): string {
    return this.#with.state.failed.get(failureKey(fingerprint, this.label))?.failed_at ?? '';
  }

  /**
   * Works on fingerprints in their order; those that have failed must come after all others. Rejects when the state
   * cannot be saved.
   */
  async settle(fingerprints: readonly string[]): Promise<Outcome> {
    const { turnMs = TURN_MS } = this.#with;
    const begunMs = performance.now();
    this.#creations = 0;
    this.#changes = 0;
    this.#loss = undefined;
    try {
      await this.#with.manager.check().catch(error => {
        throw endOf('absent', error);
      });
      for (const [index, fingerprint] of fingerprints.entries()) {
        if (index > 0 && performance.now() - begunMs >= turnMs) throw this.#endOfTurn(fingerprint);
        await this.#settleOne(fingerprint);
      }
      return 'done';
    } catch (error) {
      if (error instanceof End) return error.outcome;
      throw error;
    }
  }

  /** `more` if the next fingerprint has not failed before and this cycle has changed something; else the rest waits. */
  #endOfTurn(next: string): End {
    return new End(this.failedAt(next) === '' && this.#changes > 0 ? 'more' : 'done');
  }

  async #settleOne(fingerprint: string): Promise<void> {
    const { state, label } = this.#with;
    const key = failureKey(fingerprint, label);
    let view = NOTHING_SEEN;
    let purpose: Purpose = 'create';
    let isWithdrawing = false;
    try {
      for (let steps = 0; steps < MAX_STEPS; steps += 1) {
        const step = this.#decide(fingerprint, view);
        if (step === undefined) {
          this.#loss = undefined;
          if (state.failed.delete(key)) await this.#with.changed();
          return;
        }
        if (step.kind === 'record') {
          await this.#record(fingerprint, step.holding);
          continue;
        }
        purpose = step.purpose;
        isWithdrawing = step.kind === 'decline' || step.kind === 'delete';
        view = await this.#take(fingerprint, step, view);
      }
      throw new RemoteError('answer', 'it answers in circles');
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      // The failed call may have taken effect nevertheless, and the primary may change before the next try.
      if (isWithdrawing) await this.#withdraw(fingerprint, unsure);
      await this.#requirePresence(error);
      this.#noteLoss(key, error);
      await this.#fail(key, purpose, error);
    }
  }

  /** Two lost connections in a row are an outage: neither counts as a failure of its request, and the cycle ends. */
  #noteLoss(key: string, error: RemoteError): void {
    const { failed } = this.#with.state;
    const earlier = this.#loss;
    this.#loss = error.fault === 'network' ? { key, before: failed.get(key) } : undefined;
    if (earlier === undefined || this.#loss === undefined) return;
    if (earlier.before === undefined) failed.delete(earlier.key);
    else failed.set(earlier.key, earlier.before);
    throw new End('absent', error);
  }

  #decide(fingerprint: string, view: View): Step | undefined {
    const { state, label, settings: options } = this.#with;
    const group = this.#with.group(fingerprint);
    const media = group ?? mediaOf(fingerprint);
    if (media === undefined) return undefined;
    const tracked = state.requests.get(fingerprint);
    const holding = tracked?.subordinates[label];
    const isApproved = holding?.status === REQUEST_STATUS.approved && holding.adopted !== true;
    if (isApproved && group?.wish === 'pending') this.approvesItself = true;
    return decide({ media, group, isDeleted: tracked?.deleted === true, holding, view, options });
  }

  async #take(fingerprint: string, step: Exclude<Step, { kind: 'record' }>, view: View): Promise<View> {
    const { manager, group } = this.#with;
    const media = mediaOf(fingerprint) as Media;
    switch (step.kind) {
      case 'look':
        return { ...view, title: await this.#look(media, step.purpose) };
      case 'find-user': {
        const email = group(fingerprint)?.email;
        const users = await this.#listUsers();
        return { ...view, user: users.find(user => user.email === email) ?? null };
      }
      case 'read':
        return withRequest(view, step.id, (await manager.request(step.id)) ?? null);
      case 'create':
        return this.#create(fingerprint, media, step, view);
      case 'extend':
        return this.#extend(fingerprint, step, view);
      case 'approve':
        return this.#setStatus(media, step.kind, step.id, view);
      case 'decline':
        return this.#decline(fingerprint, media, step.id, view);
      case 'delete':
        await manager.remove(step.id);
        await this.#withdraw(fingerprint, holding => withoutRequest(holding, step.id));
        return withRequest(view, step.id, null);
    }
  }

  /** The title; null for a creation, which goes on without it. Other purposes need the title and fail. */
  async #look({ mediaType, tmdbId }: Media, purpose: Purpose): Promise<Title | null> {
    try {
      return await this.#with.manager.title(mediaType, tmdbId);
    } catch (error) {
      if (purpose !== 'create' || !(error instanceof RemoteError)) throw error;
      await this.#requirePresence(error);
      return null;
    }
  }

  async #listUsers(): Promise<readonly RemoteUser[]> {
    const atMs = this.#with.nowMs();
    const known = this.#users;
    if (known !== undefined && atMs >= known.atMs && atMs - known.atMs < USERS_MS) return known.list;
    const list = await this.#with.manager.users();
    this.#users = { list, atMs };
    return list;
  }

  async #create(fingerprint: string, media: Media, step: Creation, view: View): Promise<View> {
    if (this.#creations >= MAX_CREATIONS) throw this.#endOfTurn(fingerprint);
    this.#creations += 1;
    const { state, label, group, nowMs } = this.#with;
    const { seasons, userId, isAskedByUser = false } = step;
    const user = userId === undefined ? {} : { userId, isAskedByUser };
    const request = { ...media, tvdbId: group(fingerprint)?.tvdbId ?? null, seasons, ...user };
    const created = await this.#ask(request);
    const holding = state.requests.get(fingerprint)?.subordinates[label];
    const sent = seasons === 'all' ? [] : seasons;
    const now = timestamp(nowMs());
    if (created !== undefined) {
      await this.#record(fingerprint, withCreated(holding, created, sent, now));
      return withRequest(view, created.id, created);
    }
    const isTracked = holding !== undefined && holding.id !== 0;
    const found = isTracked ? undefined : await this.#find(media, view);
    await this.#record(fingerprint, withFound(holding, found, sent, now));
    return view;
  }

  /** Creates a request. For older products, which do not know `all`, it tries once more with the list of seasons. */
  async #ask(request: NewRequest): Promise<RemoteRequest | undefined> {
    const { manager } = this.#with;
    try {
      return await manager.create(request);
    } catch (error) {
      const isTooOld = error instanceof RemoteError && (error.status === 400 || error.status === 500);
      if (request.seasons !== 'all' || !isTooOld) throw error;
      const { seasons } = await manager.title(request.mediaType, request.tmdbId);
      if (seasons.length === 0) throw error;
      return manager.create({ ...request, seasons });
    }
  }

  /** The newest existing request for the title that is not declined. */
  async #find(media: Media, view: View): Promise<RemoteRequest | undefined> {
    const { manager } = this.#with;
    const title = view.title ?? (await this.#look(media, 'create'));
    const inTitle = newestFor(media, title?.requests ?? []);
    if (inTitle !== undefined) return inTitle;
    for (let number = 0, skip = 0; number < MAX_PAGES; number += 1) {
      const page = await manager.page('added', skip);
      const inPage = newestFor(media, page.requests);
      skip += page.length;
      if (inPage !== undefined || page.length === 0 || skip >= page.total) return inPage;
    }
    return undefined;
  }

  async #extend(fingerprint: string, step: Extract<Step, { kind: 'extend' }>, view: View): Promise<View> {
    const { manager, state, label, nowMs } = this.#with;
    const changed = await manager.extend(step.id, step.seasons);
    if (changed === 'refused') return { ...view, isEditRefused: true };
    const holding = state.requests.get(fingerprint)?.subordinates[label];
    if (changed !== null && holding !== undefined) {
      const { status } = changed;
      await this.#record(fingerprint, { ...withFound(holding, changed, step.seasons, timestamp(nowMs())), status });
    }
    return withRequest(view, step.id, changed);
  }

  async #setStatus(media: Media, kind: 'approve' | 'decline', id: number, view: View): Promise<View> {
    const { manager } = this.#with;
    const { pending, declined } = REQUEST_STATUS;
    const changed = kind === 'approve' ? await manager.approve(id) : await manager.decline(id);
    const isUnchanged = (status: number) =>
      kind === 'approve' ? status === pending || status === declined : status !== declined;
    if (changed !== null && isFor(changed, media) && isUnchanged(changed.status))
      throw new RemoteError('answer', 'the request did not change its status');
    return withRequest(view, id, changed);
  }

  async #decline(fingerprint: string, media: Media, id: number, view: View): Promise<View> {
    const declined = await this.#setStatus(media, 'decline', id, view);
    await this.#withdraw(fingerprint, withoutSeasons);
    return declined;
  }

  /** Notes each withdrawn request at once, so that the state is right even when the next call fails. */
  async #withdraw(fingerprint: string, without: (holding: Holding) => Holding | undefined): Promise<void> {
    const { state, label } = this.#with;
    const holding = state.requests.get(fingerprint)?.subordinates[label];
    if (holding !== undefined) await this.#record(fingerprint, without(holding));
  }

  async #record(fingerprint: string, holding: Holding | undefined): Promise<void> {
    const { state, label, group, nowMs, changed } = this.#with;
    const tracked = state.requests.get(fingerprint);
    if (holding === undefined) {
      if (tracked === undefined) return;
      delete tracked.subordinates[label];
      if (Object.keys(tracked.subordinates).length === 0) state.requests.delete(fingerprint);
    } else {
      const held = { ...holding, synced_at: timestamp(nowMs()) };
      if (tracked !== undefined) tracked.subordinates[label] = held;
      else {
        const { ids = [], seasons = [] } = group(fingerprint) ?? {};
        const primary = { primary_id: ids.at(-1) ?? 0, primary_ids: ids, seasons };
        state.requests.set(fingerprint, { ...primary, subordinates: bareObject([[label, held]]) });
      }
    }
    this.#changes += 1;
    await changed();
  }

  /** Ends the cycle after a lost connection if a check fails too, and after a refused call if the key is refused. */
  async #requirePresence(error: RemoteError): Promise<void> {
    const { manager } = this.#with;
    if (error.isAbsence)
      await manager.check().catch(cause => {
        throw endOf('absent', cause);
      });
    if (!error.isForbidden) return;
    const refusal = await manager.keyRefusal().catch(cause => {
      throw endOf('absent', cause);
    });
    if (refusal !== undefined) throw new End('key', error);
  }

  #mayRetry(key: string): boolean {
    const { state, settings, nowMs } = this.#with;
    const failure = state.failed.get(key);
    if (failure === undefined) return true;
    return nowMs() >= (retryAtMs(failure.failed_at, settings.retry_failed_after_hours, nowMs()) ?? 0);
  }

  async #fail(key: string, purpose: Purpose, error: RemoteError): Promise<void> {
    const { state, nowMs, changed } = this.#with;
    const media = mediaOf(partsOfKey(key)[0]);
    const prefix = purpose === 'create' ? '' : `${purpose}: `;
    state.failed.set(key, {
      ...state.failed.get(key),
      failed_at: timestamp(nowMs()),
      error: shortLine(prefix + error.message),
      media_type: media?.mediaType ?? '',
      tmdb_id: media?.tmdbId ?? null,
      attempts: (state.failed.get(key)?.attempts ?? 0) + 1,
    });
    this.#changes += 1;
    await changed();
  }
}

function isDelete(step: Step): boolean {
  return step.kind !== 'record' && step.purpose === 'delete';
}

function withRequest(view: View, id: number, request: RemoteRequest | null): View {
  return { ...view, requests: new Map([...view.requests, [id, request]]) };
}

function newestFor(media: Media, requests: readonly RemoteRequest[]): RemoteRequest | undefined {
  return requests
    .filter(request => isFor(request, media) && request.status !== REQUEST_STATUS.declined)
    .reduce<RemoteRequest | undefined>(
      (newest, request) => (request.id > (newest?.id ?? 0) ? request : newest),
      undefined,
    );
}

/** The end of the cycle for a RemoteError; any other error stays as it is. */
function endOf(outcome: Outcome, error: unknown): unknown {
  return error instanceof RemoteError ? new End(outcome, error) : error;
}
