// What is to be done next about one fingerprint on one subordinate: the decision table, as a pure function.
import type { Group } from './group.ts';
import { type Holding, isFor, ownIds, withoutSeasons } from './holding.ts';
import { AVAILABLE, type Media, REQUEST_STATUS, type RemoteRequest, type Title, union } from './remote-request.ts';

const { pending, declined } = REQUEST_STATUS;
/** Whoever has one of these bits approves by asking: admin, manage requests, auto-approve of all kinds. */
const APPROVING = 2 | 16 | 128 | 256 | 512 | 32_768 | 65_536 | 131_072;

/** `options` of the configuration. */
export interface SyncOptions {
  readonly sync_pending: boolean;
  readonly sync_approved: boolean;
  readonly sync_declined: boolean;
  readonly sync_deletes: boolean;
  readonly user_mapping: 'admin' | 'email_match';
  readonly pending_without_approval: 'create' | 'hold';
}

/** What was learnt of the subordinate while this fingerprint is dealt with. */
export interface View {
  /** undefined before it was asked for; null where the subordinate said nothing of it. */
  readonly title?: Title | null;
  /** By id; null for one that is not there any more. */
  readonly requests: ReadonlyMap<number, RemoteRequest | null>;
  /** The user with the address of the group; undefined before it was asked for, null where there is none. */
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

/** What a step is for; it stands in front of the error when the step fails. */
export type Purpose = 'create' | 'seasons' | 'approve' | 'decline' | 'delete';

export interface Creation {
  readonly kind: 'create';
  readonly purpose: Purpose;
  /** `all` where the primary lists none; empty for movies. */
  readonly seasons: readonly number[] | 'all';
  /** Whose request it becomes; undefined: the administrator's. */
  readonly userId?: number;
  /** Whether that user asks, so that the request stays pending. */
  readonly isAskedByUser?: boolean;
}

/** `look` asks for the title, `read` for one request, `find-user` for the user of the group. */
export type Step =
  | { readonly kind: 'look' | 'find-user'; readonly purpose: Purpose }
  | { readonly kind: 'read' | 'approve' | 'decline' | 'delete'; readonly id: number; readonly purpose: Purpose }
  | { readonly kind: 'extend'; readonly id: number; readonly seasons: readonly number[]; readonly purpose: Purpose }
  | Creation
  /** Nothing is asked or told; undefined forgets what is held. */
  | { readonly kind: 'record'; readonly holding: Holding | undefined };

/** undefined when nothing is to be done. Whoever carries out a step asks again with what it brought. */
export function decide(situation: Situation): Step | undefined {
  const { group, isDeleted, holding, options } = situation;
  if (isDeleted) {
    if (holding === undefined) return undefined;
    return options.sync_deletes ? deletion(situation, holding) : { kind: 'record', holding: undefined };
  }
  if (group === undefined) return undefined;
  if (holding === undefined) {
    const seasons = group.mediaType === 'tv' && group.seasons.length === 0 ? 'all' : group.seasons;
    return creation(situation, group, 'create', seasons);
  }
  if (holding.gone === true) return undefined;
  if (group.wish === 'declined') return group.isWhole ? refusal(situation, holding) : undefined;
  if (!isWanted(group, options)) return undefined;
  if (holding.unsure === true) return verification(situation, holding);
  const isApprovable = holding.id !== 0 && (holding.status === pending || holding.status === declined);
  if (group.wish === 'approved' && isApprovable) return approval(situation, holding);
  return holding.status === declined ? undefined : furtherSeasons(situation, group, holding);
}

/** Whether the options replicate what the group wishes. */
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
  const user = isMapped && view.user != null ? view.user : undefined;
  const isAskedByUser = group.wish === 'pending' && user !== undefined && (user.permissions & APPROVING) === 0;
  // As an administrator's the request would be approved at once.
  if (group.wish === 'pending' && !isAskedByUser && options.pending_without_approval === 'hold') return undefined;
  if (view.title === undefined) return { kind: 'look', purpose };
  if ((media.is4k ? view.title?.status4k : view.title?.status) === AVAILABLE) {
    const asked = seasons === 'all' ? [] : seasons;
    const known = union(holding?.seasons ?? [], asked);
    const held = holding ?? { id: 0, status: AVAILABLE, synced_at: '' };
    return { kind: 'record', holding: { ...held, ...(known.length === 0 ? {} : { seasons: known }) } };
  }
  const { id: userId } = user ?? {};
  return { kind: 'create', purpose, seasons, ...(userId === undefined ? {} : { userId, isAskedByUser }) };
}

/** The first of these requests that has not the wanted status yet, read before it is changed. */
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

/** What is left of the holding on the subordinate. */
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

/** The primary declined what the subordinate holds. */
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

/** A number that leads to another title's request, after a loss of data, is as good as gone. */
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
    // What would be held back afterwards is not asked for.
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
