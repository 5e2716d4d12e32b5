// The laws of replication, checked by replaying the journal of a test: what the sync must never do at a request
// manager.
import type {
  CallEntry,
  JournalEntry,
  MediaKey,
  ReplicationOptions,
  RequestChange,
  RequestJournal,
} from './request-journal.ts';
import { ADMINISTRATOR, approvesByAsking, type ManagerUser, type RequestManager, STATUS } from './request-manager.ts';
import { NOTHING_WISHED, type Wish, type Wished, wishedBy } from './request-wishes.ts';

export interface ReplayedJournal {
  /** One sentence for each breach. */
  readonly breaches: readonly string[];
  /**
   * Whether a person, or a loss of data, interfered with a title's requests on a subordinate since the title was first
   * asked for.
   */
  isInterfered(manager: string, fingerprint: string): boolean;
  /**
   * Whether the sync may not know that it made the request: its answer was lost, or the sync was killed before it saved
   * it.
   */
  isUncertain(manager: string, id: number): boolean;
  /**
   * Whether the primary has lost its data since a request for the title. Another title may have that request's number
   * now.
   */
  isLost(fingerprint: string): boolean;
}

/** One reading of the primary's list. */
interface ListRead {
  readonly start: number;
  readonly sort: string;
  /** Offsets of pages that failed and were not read again since. */
  readonly failed: Set<number>;
}

interface WishFrom extends Wished {
  readonly from: number;
  /** Whether a request was removed, which only a reading of the whole list shows for certain. */
  readonly isRemoval: boolean;
}

interface OwnCreation {
  /** 0 for a movie. */
  readonly seasons: readonly number[];
  /** The highest number of a request on the primary for which it can have been made. */
  readonly upTo: number;
}

/** What the sync knows to be its own creations on one subordinate, by fingerprint and id. */
type Creations = Map<string, Map<number, OwnCreation>>;

export function fingerprintOf(
  { mediaType, tmdbId, is4k }: MediaKey,
  { sync_4k_separately }: Pick<ReplicationOptions, 'sync_4k_separately'>,
): string {
  return `${mediaType}:${tmdbId}:${is4k && sync_4k_separately ? 'True' : 'False'}`;
}

export function replay(
  journal: RequestJournal,
  primary: RequestManager,
  subordinates: readonly RequestManager[],
): ReplayedJournal {
  const player = new Player(primary, subordinates);
  for (const [index, entry] of journal.entries.entries()) player.play(entry, index);
  return player;
}

class Player implements ReplayedJournal {
  readonly breaches: string[] = [];
  readonly #primary: RequestManager;
  readonly #keys: ReadonlyMap<string, string>;
  /** The permissions of each subordinate's users, by address in lower case. */
  readonly #users = new Map<string, ReadonlyMap<string, number>>();
  #options: ReplicationOptions | undefined;
  /** The requests of the primary, by id. */
  readonly #requests = new Map<number, RequestChange>();
  /**
   * Requests that were removed from the primary, by id, and when. The sync learns of a removal only from the next
   * sweep, which reads the whole list.
   */
  readonly #gone = new Map<number, { readonly request: RequestChange; readonly at: number }>();
  /** What the requests of each fingerprint asked for together, and from when on. */
  readonly #wishes = new Map<string, WishFrom[]>();
  #read: ListRead | undefined;
  #isReadOver = true;
  /** Where the newest reading without a failure began, and the newest of the whole list. */
  #wholeFrom = 0;
  #sweepFrom = 0;
  /** When the primary last answered that it has no request of this number, after a sweep. */
  readonly #confirmed = new Map<number, number>();
  /** When pages of the primary's list were read. */
  readonly #listed: number[] = [];
  /** Fingerprints that have a request which lists may never have shown. */
  readonly #hidden = new Set<string>();
  readonly #idsOf = new Map<string, Set<number>>();
  readonly #created = new Map<string, Creations>();
  readonly #interfered = new Set<string>();
  readonly #lost = new Set<string>();
  /** Subordinates that have lost their data. */
  readonly #lossy = new Set<string>();
  /** Fingerprints of the requests that the sync made. After a loss of data, a number is given to another request. */
  readonly #known = new Map<string, ReadonlySet<string>>();
  /** Requests that the sync removed. */
  readonly #removed = new Map<string, { readonly manager: string; readonly fingerprint: string }>();
  readonly #uncertain = new Set<string>();
  /** The seasons of each subordinate's requests, by `<manager> <id>`. */
  readonly #seasons = new Map<string, readonly number[]>();
  /** Titles, in one quality, that a subordinate has available, as `<manager> <title>`. */
  readonly #available = new Set<string>();
  /** Titles that were available in the last answer of the subordinate, in the same form. */
  readonly #seenAvailable = new Set<string>();

  constructor(primary: RequestManager, subordinates: readonly RequestManager[]) {
    this.#primary = primary;
    this.#keys = new Map([primary, ...subordinates].map(({ name, apiKey }) => [name, apiKey]));
    for (const { name, firstUsers } of subordinates) {
      this.#created.set(name, new Map());
      this.#users.set(name, permissionsOf(firstUsers));
    }
  }

  isInterfered(manager: string, fingerprint: string): boolean {
    return this.#interfered.has(`${manager} ${fingerprint}`);
  }

  isUncertain(manager: string, id: number): boolean {
    return this.#uncertain.has(`${manager} ${id}`);
  }

  isLost(fingerprint: string): boolean {
    return this.#lost.has(fingerprint);
  }

  play(entry: JournalEntry, index: number): void {
    if (entry.what === 'options') this.#options = entry.options;
    else if (entry.what === 'killed') this.#forget(entry.saved);
    else if (entry.what === 'lost') this.#lose(entry.manager, index);
    else if (entry.what === 'person') this.#playPerson(entry.manager, entry.change, index);
    else this.#playCall(entry, index);
  }

  #fingerprint(key: MediaKey): string {
    return fingerprintOf(key, this.#options ?? { sync_4k_separately: true });
  }

  #playPerson(manager: string, change: RequestChange, index: number): void {
    const fingerprint = this.#fingerprint(change);
    if (manager !== this.#primary.name) {
      const isTouched = ['removed', 'declined', 'approved', 'edited'].includes(change.kind);
      if (isTouched) this.#interfered.add(`${manager} ${fingerprint}`);
      if (change.kind === 'available') this.#available.add(`${manager} ${titleOf(change)}`);
      else if (change.kind === 'blocklisted') this.#available.delete(`${manager} ${titleOf(change)}`);
      else this.#seasons.set(`${manager} ${change.id}`, change.seasons);
      return;
    }
    if (change.kind === 'available' || change.kind === 'blocklisted') {
      const { listed, availableStatus } = this.#primary.product;
      if (change.kind === 'blocklisted' || !listed.includes(availableStatus)) this.#hidden.add(fingerprint);
      return;
    }
    if (!this.#primary.product.listed.includes(change.status)) this.#hidden.add(fingerprint);
    if (change.kind === 'removed') {
      const request = this.#requests.get(change.id);
      if (request !== undefined) this.#gone.set(change.id, { request, at: index });
      this.#requests.delete(change.id);
    } else this.#requests.set(change.id, change);
    this.#setWish(fingerprint, index, change.kind === 'removed');
  }

  #setWish(fingerprint: string, index: number, isRemoval: boolean): void {
    const requests = [...this.#requests.values()].filter(request => this.#fingerprint(request) === fingerprint);
    const history = this.#wishes.get(fingerprint) ?? [];
    const gone = [...this.#gone.values()]
      .filter(({ request, at }) => at >= this.#sweepFrom && this.#fingerprint(request) === fingerprint)
      .map(({ request }) => request);
    const taken = gone.length === 0 ? [] : [{ ...wishedBy([...requests, ...gone]), from: index, isRemoval }];
    this.#wishes.set(fingerprint, [...history, ...taken, { ...wishedBy(requests), from: index, isRemoval }]);
    const ids = this.#idsOf.get(fingerprint) ?? new Set();
    for (const { id } of requests) ids.add(id);
    this.#idsOf.set(fingerprint, ids);
    if (!isRemoval) return;
    // The sync forgets its own requests when the primary's are removed, even if a person then asks again.
    for (const [manager, creations] of this.#created) {
      const own = creations.get(fingerprint) ?? new Map<number, OwnCreation>();
      for (const [id, { upTo }] of own) {
        if (requests.some(request => request.id <= upTo)) continue;
        own.delete(id);
        // Without `sync_deletes` the sync forgets the request, and never touches it again.
        if (!this.#options?.sync_deletes) this.#uncertain.add(`${manager} ${id}`);
      }
    }
  }

  #lose(manager: string, index: number): void {
    if (manager !== this.#primary.name) {
      this.#lossy.add(manager);
      this.#users.set(manager, permissionsOf([ADMINISTRATOR]));
      for (const title of this.#available) if (title.startsWith(`${manager} `)) this.#available.delete(title);
      for (const fingerprint of this.#wishes.keys()) this.#interfered.add(`${manager} ${fingerprint}`);
      return;
    }
    const present = new Set([...this.#requests.values()].map(request => this.#fingerprint(request)));
    this.#requests.clear();
    for (const fingerprint of this.#wishes.keys()) this.#lost.add(fingerprint);
    for (const fingerprint of present) this.#setWish(fingerprint, index, true);
  }

  #forget(saved: ReadonlySet<string>): void {
    // A removal that was not saved is unknown to the restarted sync, which takes the request for present.
    for (const [request, { manager, fingerprint }] of this.#removed)
      if (saved.has(`${request} ${fingerprint}`)) this.#interfered.add(`${manager} ${fingerprint}`);
    for (const [request, fingerprints] of this.#known)
      for (const fingerprint of fingerprints) if (!saved.has(`${request} ${fingerprint}`)) this.#uncertain.add(request);
    for (const [manager, creations] of this.#created)
      for (const [fingerprint, own] of creations)
        for (const id of own.keys()) if (!saved.has(`${manager} ${id} ${fingerprint}`)) own.delete(id);
  }

  #playCall(entry: CallEntry, index: number): void {
    const { manager, call, change } = entry;
    const sent = JSON.stringify([call.path, [...call.query], call.headers, call.body]);
    for (const [owner, key] of this.#keys)
      if (owner !== manager && sent.includes(key)) this.#breach(entry, `carries the key of ${owner}`);
    if (manager === this.#primary.name) {
      if (call.method !== 'GET') this.#breach(entry, 'writes to the primary');
      else this.#playReading(entry, index);
    } else if (change !== undefined) this.#judge(entry, change);
    else if (call.method === 'GET') this.#playLook(entry);
    else if (entry.status === 404 || entry.fault !== undefined || this.#lossy.has(manager)) this.#playGone(entry);
  }

  #playLook(entry: CallEntry): void {
    const { manager, call, status, fault } = entry;
    const [, mediaType, tmdbId] = /^\/(movie|tv)\/(\d+)$/.exec(call.path) ?? [];
    for (const is4k of mediaType === undefined ? [] : [false, true]) {
      const title = `${manager} ${mediaType}:${tmdbId}:${is4k}`;
      const isSeen = status === 200 && fault === undefined && this.#available.has(title);
      if (isSeen) this.#seenAvailable.add(title);
      else this.#seenAvailable.delete(title);
    }
    if (status === 404 || this.#lossy.has(manager)) this.#playGone(entry);
  }

  /**
   * A request that is to be removed is no longer the sync's own when it is not found, or when the answer to its removal
   * was lost. After a loss of data the number may belong to another title.
   */
  #playGone({ manager, call: { path } }: CallEntry): void {
    const [, id] = /^\/request\/(\d+)$/.exec(path) ?? [];
    for (const [fingerprint, own] of this.#created.get(manager) ?? []) {
      const wishes = this.#wishesKnown(fingerprint).map(({ wish }) => wish);
      // Lists may hide a request of the group, so the sync may know only of one that was declined.
      const isRefused = wishes.includes('absent') || wishes.includes('declined') || this.#hidden.has(fingerprint);
      if (isRefused) own.delete(Number(id));
    }
  }

  #playReading(entry: CallEntry, index: number): void {
    const { path, query } = entry.call;
    const { status, fault } = entry;
    if (path === '/status') this.#isReadOver = true;
    const isRead = status === 200 && fault === undefined;
    if (path === '/request') {
      const sort = query.get('sort') ?? '';
      if (this.#read === undefined || this.#isReadOver || this.#read.sort !== sort) {
        if (sort === 'modified' && Math.max(0, ...(this.#read?.failed ?? [])) > 0)
          this.#breach(entry, 'reads what changed although a page of the list is not known');
        if (this.#read?.sort === 'added') this.#sweepFrom = this.#knownFrom(this.#sweepFrom);
        this.#wholeFrom = this.#knownFrom(this.#wholeFrom);
        this.#read = { start: index, sort, failed: new Set() };
        this.#isReadOver = false;
      }
      const skip = Number(query.get('skip') ?? 0);
      if (isRead) {
        this.#read.failed.delete(skip);
        this.#listed.push(index);
      } else this.#read.failed.add(skip);
    }
    const [, id] = /^\/request\/(\d+)$/.exec(path) ?? [];
    const isSwept = this.#read?.sort === 'added' && this.#read.failed.size === 0;
    if (id !== undefined && status === 404 && fault === undefined && isSwept) this.#confirm(Number(id), index);
  }

  #confirm(id: number, index: number): void {
    this.#confirmed.set(id, index);
    for (const [fingerprint, ids] of this.#idsOf) {
      if (!ids.has(id) || this.#wishes.get(fingerprint)?.at(-1)?.wish !== 'absent') continue;
      for (const manager of this.#created.keys()) this.#interfered.delete(`${manager} ${fingerprint}`);
    }
  }

  /** Where the newest reading began, or `earlier` when a page of it failed. */
  #knownFrom(earlier: number): number {
    return this.#read === undefined || this.#read.failed.size > 0 ? earlier : this.#read.start;
  }

  /** What the primary asked for at any time that the sync may still take for the present. */
  #wishesKnown(fingerprint: string): readonly Wished[] {
    const history = this.#wishes.get(fingerprint) ?? [];
    const sweepFrom = this.#read?.sort === 'added' ? this.#knownFrom(this.#sweepFrom) : this.#sweepFrom;
    const isShrunk = history.some(({ from, isRemoval }) => isRemoval && from >= sweepFrom);
    const since = isShrunk ? sweepFrom : this.#knownFrom(this.#wholeFrom);
    const before = history.findLast(({ from }) => from < since) ?? NOTHING_WISHED;
    return [before, ...history.filter(({ from }) => from >= since)];
  }

  #judge(entry: CallEntry, change: RequestChange): void {
    const fingerprint = this.#fingerprint(change);
    const moments = this.#wishesKnown(fingerprint);
    const wishes = moments.map(({ wish }) => wish);
    const own = this.#created.get(entry.manager)?.get(fingerprint) ?? new Map<number, OwnCreation>();
    const seasons = change.mediaType === 'movie' ? [0] : change.seasons;
    const upTo = Math.max(0, ...[...(this.#idsOf.get(fingerprint) ?? [])].filter(id => this.#requests.has(id)));
    const creation = { seasons, upTo };
    if (change.kind === 'created') {
      this.#judgeCreation(entry, change, moments);
      const twice = [...own.values()].flatMap(other => other.seasons).filter(season => seasons.includes(season));
      if (twice.length > 0) this.#breach(entry, `creates again what it created before, seasons ${twice}`);
      const request = `${entry.manager} ${change.id}`;
      this.#known.set(request, new Set([...(this.#known.get(request) ?? []), fingerprint]));
      if (entry.fault === undefined && upTo > 0)
        this.#created.get(entry.manager)?.set(fingerprint, own.set(change.id, creation));
      // Without `sync_deletes` the sync forgets a request whose title nobody asks for any more.
      const isForgotten = upTo === 0 && !this.#options?.sync_deletes;
      if (entry.fault !== undefined || isForgotten) this.#uncertain.add(request);
    }
    if (change.kind === 'edited') {
      const before = this.#seasons.get(`${entry.manager} ${change.id}`) ?? [];
      if (!this.#isReplicated(fingerprint, wishes)) this.#breach(entry, 'extends what nobody asked for');
      if (!this.isInterfered(entry.manager, fingerprint) && before.some(season => !change.seasons.includes(season)))
        this.#breach(entry, `takes seasons away, which were ${before}`);
      this.#judgeSeasons(entry, change, moments, before);
      if (own.has(change.id)) own.set(change.id, creation);
    }
    if (change.kind === 'approved' && !(wishes.includes('approved') && this.#options?.sync_approved))
      this.#breach(entry, 'approves what nobody approved');
    if (change.kind === 'declined') {
      if (this.#isPersons(entry, change, fingerprint)) this.#breach(entry, "declines a person's request");
      // Lists may hide a request of the group, so the sync may know only of one that was declined.
      const isDeclined = wishes.includes('declined') || this.#hidden.has(fingerprint);
      if (!isDeclined || !this.#options?.sync_declined) this.#breach(entry, 'declines what nobody declined');
    }
    if (change.kind === 'removed') this.#judgeRemoval(entry, change, fingerprint, wishes);
    else this.#seasons.set(`${entry.manager} ${change.id}`, change.seasons);
  }

  #judgeCreation(entry: CallEntry, change: RequestChange, moments: readonly Wished[]): void {
    const wishes = moments.map(({ wish }) => wish);
    const { call, manager } = entry;
    const fingerprint = this.#fingerprint(change);
    const isApproved = wishes.includes('approved');
    if (!this.#isReplicated(fingerprint, wishes)) this.#breach(entry, 'creates what nobody asked for');
    if (this.#seenAvailable.has(`${manager} ${titleOf(change)}`)) this.#breach(entry, 'creates what is available');
    if (!isApproved && change.status === STATUS.approved && this.#options?.pending_without_approval === 'hold')
      this.#breach(entry, 'approves by creating what nobody approved');
    this.#judgeSeasons(entry, change, moments, []);
    // The sync cannot tell who asked first when it knows only part of a group.
    if (this.#isKnownInPart(fingerprint)) return;
    const users = this.#users.get(manager) ?? new Map<string, number>();
    const isMapped = this.#options?.user_mapping === 'email_match';
    const owners = moments.map(({ email }) => (isMapped && email !== null && users.has(email) ? email : null));
    if (!owners.includes(change.email) && !(change.email === ADMINISTRATOR.email && owners.includes(null)))
      this.#breach(entry, `makes it the request of ${change.email}`);
    const isModest = change.email !== ADMINISTRATOR.email && !approvesByAsking(users.get(change.email) ?? 0);
    const isAskedByUser = call.headers['x-api-user'] !== undefined;
    if (isAskedByUser && !(isModest && wishes.includes('pending')))
      this.#breach(entry, 'asks as a user for what is approved at once');
    if (isModest && !isApproved && change.status === STATUS.approved)
      this.#breach(entry, 'approves what its owner could have asked for');
  }

  #judgeSeasons(entry: CallEntry, change: RequestChange, moments: readonly Wished[], before: readonly number[]): void {
    if (this.#isKnownInPart(this.#fingerprint(change))) return;
    if (moments.some(({ wish, seasons }) => wish !== 'declined' && seasons === undefined)) return;
    const asked = moments.flatMap(({ seasons = [] }) => seasons);
    const further = change.seasons.filter(season => !before.includes(season) && !asked.includes(season));
    if (further.length > 0) this.#breach(entry, `asks for seasons that nobody asked for: ${further}`);
  }

  /**
   * Whether the options let one of the wishes be replicated. When only part of a group is known, a hidden request may
   * be the approved one, so either wish will do.
   */
  #isReplicated(fingerprint: string, wishes: readonly Wish[]): boolean {
    const { sync_pending: isPending, sync_approved: isApproved } = this.#options ?? {};
    const asks = (wish: Wish) => wishes.includes(wish);
    if (this.#isKnownInPart(fingerprint)) return asks('approved') || asks('pending');
    return (isApproved === true && asks('approved')) || (isPending === true && asks('pending'));
  }

  /** Whether lists hide requests of the group, or a page that failed may have some. */
  #isKnownInPart(fingerprint: string): boolean {
    return this.#hidden.has(fingerprint) || (this.#read?.failed.size ?? 0) > 0;
  }

  /**
   * Whether a person made the request. After a loss of data, a request for the same title under the same number looks
   * like the one that the sync made before.
   */
  #isPersons({ manager }: CallEntry, { byPerson, id }: RequestChange, fingerprint: string): boolean {
    return byPerson && this.#known.get(`${manager} ${id}`)?.has(fingerprint) !== true;
  }

  #judgeRemoval(entry: CallEntry, change: RequestChange, fingerprint: string, wishes: readonly Wish[]): void {
    if (this.#isPersons(entry, change, fingerprint)) this.#breach(entry, "removes a person's request");
    if (!this.#options?.sync_deletes) this.#breach(entry, 'removes although nothing is to be deleted');
    const isHidden = this.#hidden.has(fingerprint);
    if (!wishes.includes('absent') && !wishes.includes('declined') && !isHidden)
      this.#breach(entry, 'removes what the primary still has');
    else if (!wishes.includes('declined') && !isHidden) {
      const seen = this.#lastSeen(fingerprint);
      const ids = [...(this.#idsOf.get(fingerprint) ?? [])];
      if (!ids.some(id => (this.#confirmed.get(id) ?? -1) > seen))
        this.#breach(entry, 'removes without having asked, after a whole sweep, whether the request is gone');
    }
    this.#removed.set(`${entry.manager} ${change.id}`, { manager: entry.manager, fingerprint });
    this.#created.get(entry.manager)?.get(fingerprint)?.delete(change.id);
  }

  /** When a page was read last while the primary had a request of the fingerprint. */
  #lastSeen(fingerprint: string): number {
    const history = this.#wishes.get(fingerprint) ?? [];
    return (
      this.#listed.findLast(at => (history.findLast(({ from }) => from < at)?.wish ?? 'absent') !== 'absent') ?? -1
    );
  }

  #breach({ manager, call: { method, path } }: CallEntry, text: string): void {
    this.breaches.push(`${method} ${path} at ${manager} ${text}`);
  }
}

function permissionsOf(users: readonly ManagerUser[]): ReadonlyMap<string, number> {
  return new Map(users.map(({ email, permissions }) => [email.toLowerCase(), permissions]));
}

function titleOf({ mediaType, tmdbId, is4k }: MediaKey): string {
  return `${mediaType}:${tmdbId}:${is4k}`;
}
