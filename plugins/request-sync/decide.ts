// The decision table: what to do next about one fingerprint on one subordinate, as a pure function.
import type { Group } from './group.ts';
import { type Holding, isFor, ownIds, withoutSeasons } from './holding.ts';
import { AVAILABLE, type Media, REQUEST_STATUS, type RemoteRequest, type Title, union } from './remote-request.ts';

const { pending, declined } = REQUEST_STATUS;
/** Permissions whose users' requests are approved at once: admin, manage requests, auto-approve of all kinds. */
const APPROVING = 2 | 16 | 128 | 256 | 512 | 32_768 | 65_536 | 131_072;

/** The members of `options` in the configuration. */
export interface SyncOptions {
  readonly sync_pending: boolean;
  readonly sync_approved: boolean;
  readonly sync_declined: boolean;
  readonly sync_deletes: boolean;
  readonly user_mapping: 'admin' | 'email_match';
  readonly pending_without_approval: 'create' | 'hold';
}

/** What the subordinate has answered since the work on this fingerprint began. */
export interface View {
  /** undefined before the title was asked for; null when the subordinate could not give it. */
  readonly title?: Title | null;
  /** Requests by id; null for one that does not exist any more. */
  readonly requests: ReadonlyMap<number, RemoteRequest | null>;
  /** The user with the e-mail address of the group; undefined before the users were asked for, null for none. */
  readonly user?: { readonly id: number; readonly permissions: number } | null;
  /** Whether the subordinate refused to change the pending request. */
  readonly isEditRefused?: boolean;
}

export interface Situation {
  readonly media: Media;
  /** undefined while the primary shows no request with the fingerprint. */
  readonly group: Group | undefined;
  /** Whether every request of the fingerprint is known to be deleted on the primary. */
  readonly isDeleted: boolean;
  readonly holding: Holding | undefined;
  readonly view: View;
  readonly options: SyncOptions;
}

/** The purpose of a step, by which the error begins when the step fails. */
export type Purpose = 'create' | 'seasons' | 'approve' | 'decline' | 'delete';

export interface Creation {
  readonly kind: 'create';
  readonly purpose: Purpose;
  /** `all` for a series when the primary lists no seasons; empty for movies. */
  readonly seasons: readonly number[] | 'all';
  /** The owner of the request; undefined for the administrator. */
  readonly userId?: number;
  /** Whether the request is made in the name of that user, so that it stays pending. */
  readonly isAskedByUser?: boolean;
}

/** One step. `look` asks for the title, `read` for one request, and `find-user` for the user of the group. */
export type Step =
  | { readonly kind: 'look' | 'find-user'; readonly purpose: Purpose }
  | { readonly kind: 'read' | 'approve' | 'decline' | 'delete'; readonly id: number; readonly purpose: Purpose }
  | { readonly kind: 'extend'; readonly id: number; readonly seasons: readonly number[]; readonly purpose: Purpose }
  | Creation
  /** Changes only the state, without a call; undefined removes the holding. */
  | { readonly kind: 'record'; readonly holding: Holding | undefined };

/** The next step; undefined when nothing is to be done. After each step the caller asks again with its result. */
export function decide(situation: Situation): Step | undefined {
  const { group, isDeleted, holding } = situation;
  if (isDeleted) return holding && afterDeletion(situation, holding);
  if (group === undefined) return undefined;
  return holding === undefined
    ? creation(situation, group, 'create', seasonsOf(group))
    : upkeep(situation, group, holding);
}

function afterDeletion(situation: Situation, holding: Holding): Step {
  return situation.options.sync_deletes ? deletion(situation, holding) : { kind: 'record', holding: undefined };
}

/** All seasons where the primary lists none of a series. */
function seasonsOf({ mediaType, seasons }: Group): Creation['seasons'] {
  return mediaType === 'tv' && seasons.length === 0 ? 'all' : seasons;
}

/** The step that brings what the subordinate holds in line with the group. */
function upkeep(situation: Situation, group: Group, holding: Holding): Step | undefined {
  if (holding.gone === true) return undefined;
  if (group.wish === 'declined') return group.isWhole ? refusal(situation, holding) : undefined;
  if (!isWanted(group, situation.options)) return undefined;
  if (holding.unsure === true) return verification(situation, holding);
  const isApprovable = holding.id !== 0 && (holding.status === pending || holding.status === declined);
  if (group.wish === 'approved' && isApprovable) return approval(situation, holding);
  return holding.status === declined ? undefined : furtherSeasons(situation, group, holding);
}

/** Whether the options replicate requests with the group's wish. */
function isWanted({ wish }: Group, { sync_pending, sync_approved }: SyncOptions): boolean {
  return wish === 'approved' ? sync_approved : wish === 'pending' && sync_pending;
}

function creation(
  { view, options, media, holding }: Situation,
  group: Group,
  purpose: Purpose,
  seasons: Creation['seasons'],
): Step | undefined {
  if (!isWanted(group, options)) return undefined;
  const isMapped = options.user_mapping === 'email_match' && group.email !== null;
  if (isMapped && view.user === undefined) return { kind: 'find-user', purpose };
  const user = isMapped ? (view.user ?? undefined) : undefined;
  const isAskedByUser = group.wish === 'pending' && user !== undefined && (user.permissions & APPROVING) === 0;
  // A request of the administrator would be approved at once.
  if (group.wish === 'pending' && !isAskedByUser && options.pending_without_approval === 'hold') return undefined;
  if (view.title === undefined) return { kind: 'look', purpose };
  const isAvailable = (media.is4k ? view.title?.status4k : view.title?.status) === AVAILABLE;
  if (isAvailable) return { kind: 'record', holding: availableHolding(holding, seasons) };
  if (user === undefined) return { kind: 'create', purpose, seasons };
  return { kind: 'create', purpose, seasons, userId: user.id, isAskedByUser };
}

/** The holding of a title that the subordinate has already, so that nothing is requested. */
function availableHolding(holding: Holding | undefined, seasons: Creation['seasons']): Holding {
  const known = union(holding?.seasons ?? [], seasons === 'all' ? [] : seasons);
  const held = holding ?? { id: 0, status: AVAILABLE, synced_at: '' };
  return { ...held, ...(known.length === 0 ? {} : { seasons: known }) };
}

/** The first of these requests that must be changed, or must be read to know that. */
function firstOther(
  { view, media }: Situation,
  ids: readonly number[],
  isChanged: (request: RemoteRequest) => boolean,
): { readonly id: number; readonly isRead: boolean } | undefined {
  for (const id of ids) {
    const request = view.requests.get(id);
    if (request === undefined) return { id, isRead: false };
    if (request !== null && isFor(request, media) && isChanged(request)) return { id, isRead: true };
  }
  return undefined;
}

/** Finds out which requests of an unsure holding still exist on the subordinate. */
function verification({ view, media }: Situation, holding: Holding): Step {
  const own = ownIds(holding);
  const { unsure: _, ...rest } = withoutSeasons(holding);
  const present: RemoteRequest[] = [];
  for (const id of union(own, holding.id === 0 ? [] : [holding.id])) {
    const request = view.requests.get(id);
    if (request === undefined) return { kind: 'read', id, purpose: 'create' };
    if (request !== null && isFor(request, media)) present.push(request);
  }
  const newest = present.at(-1);
  if (newest === undefined) return { kind: 'record', holding: undefined };
  const { id, status } = newest;
  const ids = own.filter(id => present.some(request => request.id === id));
  return { kind: 'record', holding: { ...rest, id, status, ids } };
}

function approval(situation: Situation, holding: Holding): Step {
  const { view, media } = situation;
  const ids = holding.status === declined ? union(ownIds(holding), [holding.id]) : [holding.id];
  const next = firstOther(situation, ids, ({ status }) => status === pending || status === declined);
  if (next !== undefined) return { kind: next.isRead ? 'approve' : 'read', id: next.id, purpose: 'approve' };
  return { kind: 'record', holding: asRead(holding, view, media) };
}

/** The step when the primary has declined what the subordinate holds. */
function refusal(situation: Situation, holding: Holding): Step | undefined {
  const { options, view, media } = situation;
  const ids = ownIds(holding);
  if (ids.length === 0) return undefined;
  if (!options.sync_declined) return options.sync_deletes ? deletion(situation, holding) : undefined;
  if (holding.status === declined) return undefined;
  const next = firstOther(situation, ids, ({ status }) => status !== declined);
  if (next !== undefined) return { kind: next.isRead ? 'decline' : 'read', id: next.id, purpose: 'decline' };
  return { kind: 'record', holding: asRead(holding, view, media) };
}

/**
 * The holding with the status that was read. After a loss of data its id may belong to a request for another title; the
 * own request is gone then.
 */
function asRead(holding: Holding, view: View, media: Media): Holding {
  const request = view.requests.get(holding.id);
  if (request == null || !isFor(request, media)) return { ...holding, gone: true };
  return { ...holding, status: request.status };
}

function deletion(situation: Situation, holding: Holding): Step {
  const next = firstOther(situation, ownIds(holding), () => true);
  if (next === undefined) return { kind: 'record', holding: undefined };
  return { kind: next.isRead ? 'delete' : 'read', id: next.id, purpose: 'delete' };
}

function furtherSeasons(situation: Situation, group: Group, holding: Holding): Step | undefined {
  const { view, media } = situation;
  const { seasons: known } = holding;
  const wanted = group.seasons;
  const lacks = (present: readonly number[]) => wanted.filter(season => !present.includes(season));
  if (group.mediaType !== 'tv' || wanted.length === 0 || (known !== undefined && lacks(known).length === 0))
    return undefined;
  const isPending = holding.status === pending && holding.id !== 0;
  if (view.title === undefined) {
    // The title is not asked for when the creation would be held back anyway.
    return isPending ? { kind: 'look', purpose: 'seasons' } : creation(situation, group, 'seasons', wanted);
  }
  if (view.title === null) return undefined;
  const reported = view.title.requests.filter(request => isFor(request, media) && request.status !== declined);
  const present = union(known ?? [], ...reported.map(({ seasons }) => seasons));
  const missing = lacks(present);
  if (missing.length === 0) return { kind: 'record', holding: { ...holding, seasons: present } };
  if (!isPending || view.isEditRefused === true) return creation(situation, group, 'seasons', missing);
  const request = view.requests.get(holding.id);
  if (request === undefined) return { kind: 'read', id: holding.id, purpose: 'seasons' };
  if (request?.status !== pending || !isFor(request, media))
    return { kind: 'record', holding: asRead(holding, view, media) };
  return { kind: 'extend', id: request.id, seasons: union(request.seasons, missing), purpose: 'seasons' };
}
