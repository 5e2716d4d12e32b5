// A stand-in for a request manager, without sockets: its requests, what people do with them, and its public API.
import { type ManagerCall, type MediaKey, type RequestChange, RequestJournal } from './request-journal.ts';
import type { ManagerFault } from './request-manager-fault.ts';
import { REQUEST_MANAGERS, type RequestManagerName, type RequestManagerProduct } from './request-manager-products.ts';

/** The path of the API below the address of a manager. */
export const API_PATH = '/api/v1';
export const STATUS = { pending: 1, approved: 2, declined: 3, failed: 4, completed: 5 } as const;
const MEDIA = { unknown: 1, pending: 2, processing: 3, partial: 4, available: 5, blocklisted: 6 } as const;
const PERMISSION = { admin: 2, manageUsers: 8, manageRequests: 16, request: 32 } as const;
/** Permissions by which requests for movies and series are approved automatically. */
const AUTO_APPROVE = {
  movie: { normal: 128 | 256, fourK: 32_768 | 65_536 },
  tv: { normal: 128 | 512, fourK: 32_768 | 131_072 },
};
const NO_REQUEST = { id: 0, status: 0, seasons: [], byPerson: true, email: '' } as const;
export const ADMINISTRATOR: ManagerUser = { id: 1, email: 'admin@example.com', permissions: PERMISSION.admin };

export interface ManagerUser {
  readonly id: number;
  readonly email: string;
  /** The bit mask of permissions in the API. */
  readonly permissions: number;
  /** How many requests the user may own; without it, any number. */
  readonly quota?: number;
}

interface Title {
  /** The seasons of a series; empty for a movie. */
  readonly seasons: readonly number[];
  readonly tvdbId?: number;
}

export interface ManagedRequest extends MediaKey {
  readonly id: number;
  status: number;
  seasons: number[];
  readonly createdAtMs: number;
  updatedAtMs: number;
  readonly requestedBy: ManagerUser;
  readonly byPerson: boolean;
}

export interface ManagerAnswer {
  readonly status: number;
  /** Sent as JSON; undefined means an empty body. */
  readonly body?: unknown;
}

export interface RequestManagerOptions {
  readonly product?: RequestManagerName;
  /** The name of the manager in the journal. */
  readonly name?: string;
  readonly apiKey?: string;
  /** Users besides the administrator, whose id is 1. */
  readonly users?: readonly ManagerUser[];
  /**
   * Looks a title up in the metadata source. Default: it knows every title, and each series has seasons 1 to 4 and
   * specials.
   */
  readonly findTitle?: (mediaType: 'movie' | 'tv', tmdbId: number) => Title | undefined;
  /** The time in Unix milliseconds. */
  readonly clock?: () => number;
  /** The journal, which the managers of a test share. */
  readonly journal?: RequestJournal;
}

/** What a person asks for. */
export interface PersonsRequest {
  readonly mediaType: 'movie' | 'tv';
  readonly tmdbId: number;
  readonly is4k?: boolean;
  readonly seasons?: readonly number[];
  readonly status?: number;
  readonly user?: ManagerUser;
}

const everyTitle = (mediaType: string, tmdbId: number): Title =>
  mediaType === 'movie' ? { seasons: [] } : { seasons: [0, 1, 2, 3, 4], tvdbId: tmdbId + 1_000_000 };

export class RequestManager {
  readonly name: string;
  readonly apiKey: string;
  readonly product: RequestManagerProduct;
  readonly journal: RequestJournal;
  /** Added to the clock, as on a machine whose time is wrong. */
  clockSkewMs = 0;
  /** Whether nothing listens, as during an outage. */
  isDown = false;
  /** The fault of a call; asked once for each call. */
  faultOf: (call: ManagerCall) => ManagerFault | undefined = () => undefined;
  users: ManagerUser[];
  /** The users before a loss of data. */
  readonly firstUsers: readonly ManagerUser[];
  readonly #findTitle: NonNullable<RequestManagerOptions['findTitle']>;
  readonly #clock: () => number;
  readonly #requests = new Map<number, ManagedRequest>();
  readonly #byTitle = new Map<string, ManagedRequest[]>();
  /** Statuses of titles that do not follow from their requests, by title. */
  readonly #titleStatus = new Map<string, number>();
  #lastId = 0;

  constructor(options: RequestManagerOptions = {}) {
    const { product = 'merged', name = 'manager', clock = Date.now, users = [] } = options;
    this.name = name;
    this.apiKey = options.apiKey ?? `key-of-${name}`;
    this.product = REQUEST_MANAGERS[product];
    this.journal = options.journal ?? new RequestJournal();
    this.users = [ADMINISTRATOR, ...users];
    this.firstUsers = this.users;
    this.#findTitle = options.findTitle ?? everyTitle;
    this.#clock = clock;
  }

  /** Every request, oldest first. */
  get requests(): readonly ManagedRequest[] {
    return [...this.#requests.values()];
  }

  /** What a list without a filter shows, oldest first. */
  get listed(): readonly ManagedRequest[] {
    const { listed } = this.product;
    const mayHide = this.#titleStatus.size > 0;
    return this.requests.filter(
      request => listed.includes(request.status) && !(mayHide && this.isBlocklisted(request)),
    );
  }

  /** Requests of one title in one quality, oldest first. */
  requestsOf(key: MediaKey): readonly ManagedRequest[] {
    return this.#byTitle.get(titleKey(key)) ?? [];
  }

  isAvailable(key: MediaKey): boolean {
    return this.#titleStatus.get(titleKey(key)) === MEDIA.available;
  }

  /** Whether the metadata source has the title. */
  knows({ mediaType, tmdbId }: MediaKey): boolean {
    return this.#findTitle(mediaType, tmdbId) !== undefined;
  }

  isBlocklisted(key: MediaKey): boolean {
    return this.#titleStatus.get(titleKey(key)) === MEDIA.blocklisted;
  }

  /** A person makes a request. Its status is `approved` by default. */
  ask({ mediaType, tmdbId, is4k = false, seasons, status = STATUS.approved, user }: PersonsRequest): ManagedRequest {
    const wanted = mediaType === 'tv' ? [...(seasons ?? [1])] : [];
    return this.#add({ mediaType, tmdbId, is4k }, wanted, status, user ?? ADMINISTRATOR, true);
  }

  /** A person approves or declines a request, or it is set to another status; false when it is gone. */
  setStatus(id: number, status: number): boolean {
    const request = this.#requests.get(id);
    if (request === undefined) return false;
    this.#setStatus(request, status);
    this.#note(changeOf(request, status === STATUS.declined ? 'declined' : 'approved'));
    return true;
  }

  /** A person adds seasons to a request; false when it is gone. */
  addSeasons(id: number, seasons: readonly number[]): boolean {
    const request = this.#requests.get(id);
    if (request === undefined) return false;
    this.#edit(request, [...request.seasons, ...seasons]);
    this.#note(changeOf(request, 'edited'));
    return true;
  }

  /** A person removes a request; false when it is gone. */
  remove(id: number): boolean {
    const request = this.#requests.get(id);
    if (request === undefined) return false;
    this.#delete(request);
    this.#note(changeOf(request, 'removed'));
    return true;
  }

  /** A title has been downloaded, so its approved requests take the status of an available title in this product. */
  makeAvailable(key: MediaKey): void {
    this.#titleStatus.set(titleKey(key), MEDIA.available);
    for (const request of this.requestsOf(key))
      if (request.status === STATUS.approved) this.#setStatus(request, this.product.availableStatus);
    this.#note({ ...key, kind: 'available', ...NO_REQUEST });
  }

  /** Blocklists a title, in products that have a blocklist. */
  blocklist(key: MediaKey): void {
    if (!this.product.hasBlocklist) return;
    this.#titleStatus.set(titleKey(key), MEDIA.blocklisted);
    this.#note({ ...key, kind: 'blocklisted', ...NO_REQUEST });
  }

  /** Loses the database: requests are numbered from 1 again. The API key stays, because it is kept elsewhere. */
  loseData(): void {
    this.#requests.clear();
    this.#byTitle.clear();
    this.#titleStatus.clear();
    this.users = [ADMINISTRATOR];
    this.#lastId = 0;
    this.journal.add({ what: 'lost', manager: this.name });
  }

  /** Answers a call to the public API, and notes it in the journal. */
  answer(call: ManagerCall, fault?: ManagerFault['kind']): ManagerAnswer {
    const { answer, change } = this.#dispatch(call);
    this.journal.add({ what: 'call', manager: this.name, call, status: answer.status, change, fault });
    return answer;
  }

  /** Notes a call that never reached the manager, because something in front of it failed or answered. */
  noteUnserved(call: ManagerCall, status: number | null, fault: ManagerFault['kind']): void {
    this.journal.add({ what: 'call', manager: this.name, call, status, fault });
  }

  #dispatch(call: ManagerCall): { answer: ManagerAnswer; change?: RequestChange } {
    const { method, path, headers } = call;
    if (method === 'GET' && path === '/status')
      return { answer: { status: 200, body: { version: this.product.version, commitTag: 'local' } } };
    const actingId = Number(headers['x-api-user'] ?? ADMINISTRATOR.id);
    const acting = this.users.find(({ id }) => id === actingId);
    if (headers['x-api-key'] !== this.apiKey || acting === undefined)
      return { answer: problem(this.product.refusal, 'You do not have permission to access this endpoint') };
    if (method === 'GET') return { answer: this.#read(call, acting) };
    if (method === 'POST' && path === '/request') return this.#create(call.body ?? {}, acting);
    const [, id, act] = /^\/request\/(\d+)(?:\/(approve|decline))?$/.exec(path) ?? [];
    const request = this.#requests.get(Number(id));
    if (id === undefined) return { answer: problem(404, 'not found') };
    if (request === undefined) return { answer: problem(404, 'Request not found.') };
    return this.#change(request, method, act, call.body);
  }

  #read({ path, query }: ManagerCall, acting: ManagerUser): ManagerAnswer {
    if (path === '/auth/me') return { status: 200, body: acting };
    if (path === '/request') return this.#list(query);
    if (path === '/user') return page(this.users.map(withoutQuota), query);
    const [, kind, number] = /^\/(request|movie|tv)\/(\d+)$/.exec(path) ?? [];
    const id = Number(number);
    if (kind === 'request') {
      const request = this.#requests.get(id);
      return request === undefined ? problem(404, 'Request not found.') : { status: 200, body: this.#show(request) };
    }
    if (kind === 'movie' || kind === 'tv') return this.#showTitle(kind, id);
    return problem(404, 'not found');
  }

  #list(query: URLSearchParams): ManagerAnswer {
    const shown = this.listed.toReversed();
    if (query.get('sort') === 'modified') shown.sort((a, b) => b.updatedAtMs - a.updatedAtMs);
    return page(shown, query, request => this.#show(request));
  }

  #show(request: ManagedRequest): unknown {
    const { mediaType, tmdbId } = request;
    return {
      ...this.#showNested(request),
      media: { id: tmdbId, mediaType, tmdbId, ...this.#showMedia(mediaType, tmdbId) },
    };
  }

  /** A request as it stands in the `mediaInfo` of its title: without the title. */
  #showNested({ id, status, mediaType, is4k, createdAtMs, updatedAtMs, seasons, requestedBy }: ManagedRequest) {
    return {
      id,
      status,
      type: mediaType,
      is4k,
      createdAt: new Date(createdAtMs).toISOString(),
      updatedAt: new Date(updatedAtMs).toISOString(),
      seasons: seasons.map(seasonNumber => ({ seasonNumber, status })),
      requestedBy: withoutQuota(requestedBy),
    };
  }

  #showMedia(mediaType: 'movie' | 'tv', tmdbId: number) {
    const tvdbId = this.#findTitle(mediaType, tmdbId)?.tvdbId ?? null;
    const statusOf = (is4k: boolean) => this.#mediaStatus({ mediaType, tmdbId, is4k });
    return { tvdbId, status: statusOf(false), status4k: statusOf(true) };
  }

  #mediaStatus(key: MediaKey): number {
    const known = this.#titleStatus.get(titleKey(key));
    if (known !== undefined) return known;
    const requests = this.requestsOf(key);
    if (requests.some(({ status }) => status === STATUS.approved)) return MEDIA.processing;
    return requests.some(({ status }) => status === STATUS.pending) ? MEDIA.pending : MEDIA.unknown;
  }

  #showTitle(mediaType: 'movie' | 'tv', tmdbId: number): ManagerAnswer {
    const title = this.#findTitle(mediaType, tmdbId);
    if (title === undefined) return problem(404, 'Unable to retrieve the title.');
    const keys = [false, true].map(is4k => ({ mediaType, tmdbId, is4k }));
    const requests = keys.flatMap(key => this.requestsOf(key)).sort((a, b) => a.id - b.id);
    const isKnown = requests.length > 0 || keys.some(key => this.#titleStatus.has(titleKey(key)));
    const mediaInfo = {
      ...this.#showMedia(mediaType, tmdbId),
      requests: requests.map(request => this.#showNested(request)),
    };
    const seasons = title.seasons.map(seasonNumber => ({ seasonNumber }));
    return { status: 200, body: { id: tmdbId, seasons, ...(isKnown ? { mediaInfo } : {}) } };
  }

  #create(
    // biome-ignore lint/suspicious/noExplicitAny: callers may send bodies of any shape
    { mediaType, mediaId, is4k = false, seasons, userId }: any,
    acting: ManagerUser,
  ): { answer: ManagerAnswer; change?: RequestChange } {
    if (userId !== undefined && !mayChooseOwner(acting))
      return { answer: problem(403, 'You do not have permission to modify the request user.') };
    const owner = userId === undefined ? acting : this.users.find(({ id }) => id === userId);
    const title = this.#findTitle(mediaType, mediaId);
    if (owner === undefined || title === undefined) return { answer: problem(500, 'Unable to make the request.') };
    const key: MediaKey = { mediaType, tmdbId: mediaId, is4k };
    const refusal = this.#refusal(key, owner);
    if (refusal !== undefined) return { answer: problem(403, refusal) };
    const live = this.requestsOf(key).filter(({ status }) => this.#blocksAnother(status));
    if (mediaType === 'movie') {
      if (live.length > 0) return { answer: problem(409, 'Request for this media already exists.') };
      return this.#created(this.#add(key, [], this.#firstStatus(key, acting), owner, false));
    }
    const named =
      seasons === 'all' && this.product.takesAllSeasons ? title.seasons.filter(number => number > 0) : seasons;
    if (!Array.isArray(named)) return { answer: problem(500, 'requestedSeasons.filter is not a function') };
    const taken = live.flatMap(request => request.seasons);
    const left = named.filter(number => title.seasons.includes(number) && !taken.includes(number));
    if (left.length === 0) return { answer: { status: 202, body: { message: 'No seasons available to request' } } };
    return this.#created(this.#add(key, left, this.#firstStatus(key, acting), owner, false));
  }

  #refusal(key: MediaKey, owner: ManagerUser): string | undefined {
    if ((owner.permissions & (PERMISSION.request | PERMISSION.admin)) === 0)
      return 'You do not have permission to make this request.';
    if (this.isBlocklisted(key)) return 'This media is blocklisted.';
    const owned = this.requests.filter(({ requestedBy }) => requestedBy.id === owner.id).length;
    return owner.quota !== undefined && owned >= owner.quota ? 'Quota exceeded.' : undefined;
  }

  /** Whether a request in this status prevents another request for its title. */
  #blocksAnother(status: number): boolean {
    return status !== STATUS.declined && !(this.product.takesRepeats && status === STATUS.completed);
  }

  #firstStatus({ mediaType, is4k }: MediaKey, { permissions }: ManagerUser): number {
    const automatic = AUTO_APPROVE[mediaType][is4k ? 'fourK' : 'normal'];
    const approves = (permissions & (PERMISSION.admin | PERMISSION.manageRequests | automatic)) !== 0;
    return approves ? STATUS.approved : STATUS.pending;
  }

  #created(request: ManagedRequest) {
    return { answer: { status: 201, body: this.#show(request) }, change: changeOf(request, 'created') };
  }

  // biome-ignore lint/suspicious/noExplicitAny: callers may send bodies of any shape
  #change(request: ManagedRequest, method: string, act: string | undefined, body: any) {
    if (method === 'DELETE' && act === undefined) {
      this.#delete(request);
      return { answer: { status: 204 }, change: changeOf(request, 'removed') };
    }
    if (method === 'POST' && act !== undefined) {
      this.#setStatus(request, act === 'approve' ? STATUS.approved : STATUS.declined);
      const kind = act === 'approve' ? ('approved' as const) : ('declined' as const);
      return { answer: { status: 200, body: this.#show(request) }, change: changeOf(request, kind) };
    }
    if (method !== 'PUT' || act !== undefined) return { answer: problem(405, 'PUT, POST or DELETE method required') };
    if (this.product.editsPendingOnly && request.status !== STATUS.pending)
      return { answer: problem(409, 'Only pending requests can be edited.') };
    if (!Array.isArray(body?.seasons) || body.seasons.length === 0)
      return {
        answer: problem(500, 'Missing seasons. If you want to cancel a series request, use the DELETE method.'),
      };
    this.#edit(request, body.seasons);
    return { answer: { status: 200, body: this.#show(request) }, change: changeOf(request, 'edited') };
  }

  #add(key: MediaKey, seasons: number[], status: number, requestedBy: ManagerUser, byPerson: boolean): ManagedRequest {
    this.#lastId += 1;
    const now = this.#now();
    const request: ManagedRequest = {
      ...key,
      id: this.#lastId,
      status,
      seasons,
      createdAtMs: now,
      updatedAtMs: now,
      requestedBy,
      byPerson,
    };
    this.#requests.set(request.id, request);
    this.#byTitle.set(titleKey(key), [...this.requestsOf(key), request]);
    if (byPerson) this.#note(changeOf(request, 'created'));
    return request;
  }

  #delete(request: ManagedRequest): void {
    this.#requests.delete(request.id);
    const others = this.requestsOf(request).filter(other => other !== request);
    this.#byTitle.set(titleKey(request), others);
  }

  #setStatus(request: ManagedRequest, status: number): void {
    request.status = status;
    request.updatedAtMs = this.#now();
  }

  #edit(request: ManagedRequest, seasons: readonly number[]): void {
    request.seasons = [...new Set(seasons)].sort((a, b) => a - b);
    request.updatedAtMs = this.#now();
  }

  #now(): number {
    return this.#clock() + this.clockSkewMs;
  }

  #note(change: RequestChange): void {
    this.journal.add({ what: 'person', manager: this.name, change });
  }
}

/** Whether requests of a user with these permissions may be approved automatically, for any kind of title. */
export function approvesByAsking(permissions: number): boolean {
  const bits = PERMISSION.admin | PERMISSION.manageRequests;
  const automatic = Object.values(AUTO_APPROVE).flatMap(({ normal, fourK }) => [normal, fourK]);
  return automatic.some(bit => (permissions & (bits | bit)) !== 0);
}

function mayChooseOwner({ permissions }: ManagerUser): boolean {
  const needed = PERMISSION.manageUsers | PERMISSION.manageRequests;
  return (permissions & PERMISSION.admin) !== 0 || (permissions & needed) === needed;
}

function titleKey({ mediaType, tmdbId, is4k }: MediaKey): string {
  return `${mediaType} ${tmdbId} ${is4k}`;
}

function changeOf(request: ManagedRequest, kind: RequestChange['kind']): RequestChange {
  const { id, status, mediaType, tmdbId, is4k, seasons, byPerson, requestedBy } = request;
  const email = requestedBy.email.toLowerCase();
  return { kind, id, status, mediaType, tmdbId, is4k, seasons: [...seasons], byPerson, email };
}

function problem(status: number, message: string): ManagerAnswer {
  return { status, body: { message } };
}

function withoutQuota({ id, email, permissions }: ManagerUser) {
  return { id, email, permissions };
}

function page<Item>(items: readonly Item[], query: URLSearchParams, show: (item: Item) => unknown = item => item) {
  const take = Number(query.get('take') ?? 10);
  const skip = Number(query.get('skip') ?? 0);
  const pageInfo = {
    pages: Math.ceil(items.length / take),
    pageSize: take,
    results: items.length,
    page: Math.floor(skip / take) + 1,
  };
  return { status: 200, body: { pageInfo, results: items.slice(skip, skip + take).map(show) } };
}
