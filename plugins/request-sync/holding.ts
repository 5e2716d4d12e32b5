// Holdings: what a subordinate has for a fingerprint, as the state file keeps it, and how answers change that.
import { type Media, type RemoteRequest, union } from './remote-request.ts';

/** The members have the names of the file. Unknown members of an existing file are kept. */
export interface Holding {
  /** The id of the newest request; 0 when there is no request to track. */
  readonly id: number;
  /** The status of that request on the subordinate, as last answered. */
  readonly status: number;
  readonly synced_at: string;
  /** The ids of requests that replication has created; only these may be declined or deleted. */
  readonly ids?: readonly number[];
  /** The seasons that are requested; absent in entries of an earlier program. */
  readonly seasons?: readonly number[];
  /** Whether the request existed on the subordinate before. */
  readonly adopted?: boolean;
  /** Whether the request was removed on the subordinate itself. */
  readonly gone?: boolean;
  /** Whether its requests must be read before they are used, because they may have changed or be gone. */
  readonly unsure?: boolean;
}

export function ownIds({ id, ids, adopted }: Holding): readonly number[] {
  return ids ?? (id === 0 || adopted === true ? [] : [id]);
}

/** The holding after a request was created, be it the first one or one for further seasons. */
export function withCreated(
  holding: Holding | undefined,
  { id, status, seasons }: RemoteRequest,
  sent: readonly number[],
  now: string,
): Holding {
  const ids = [...(holding === undefined ? [] : ownIds(holding)), id];
  const known = union(holding?.seasons ?? [], sent, seasons);
  const { adopted: _, ...rest } = holding ?? {};
  return { ...rest, id, status, synced_at: now, ids, ...(known.length === 0 ? {} : { seasons: known }) };
}

/** The holding after a refusal because everything is requested already; `found` is the request that exists. */
export function withFound(
  holding: Holding | undefined,
  found: RemoteRequest | undefined,
  sent: readonly number[],
  now: string,
): Holding {
  const known = union(holding?.seasons ?? [], sent, found?.seasons ?? []);
  const seasons = known.length === 0 ? {} : { seasons: known };
  if (holding !== undefined && (holding.id !== 0 || found === undefined))
    return { ...holding, ...seasons, synced_at: now };
  if (found === undefined) return { id: 0, status: 0, synced_at: now, ...seasons };
  return { ...holding, id: found.id, status: found.status, synced_at: now, adopted: true, ...seasons };
}

/** The holding after one of its requests was deleted; undefined when it was the last one. */
export function withoutRequest(holding: Holding, id: number): Holding | undefined {
  const ids = ownIds(holding).filter(other => other !== id);
  const newest = ids.at(-1);
  return newest === undefined ? undefined : { ...withoutSeasons(holding), ids, id: newest };
}

/** The holding with unknown seasons: after one of its requests was withdrawn, the others must be asked for theirs. */
export function withoutSeasons({ seasons: _, ...holding }: Holding): Holding {
  return holding;
}

/** The holding whose requests must be read before they are used. A request that was removed may be created again. */
export function unsure({ gone: _, ...holding }: Holding): Holding {
  return { ...holding, unsure: true };
}

/** Whether a request is for this title. After a loss of data on the subordinate, an id may belong to another title. */
export function isFor(request: RemoteRequest, { mediaType, tmdbId, is4k }: Media): boolean {
  return request.mediaType === mediaType && request.tmdbId === tmdbId && request.is4k === is4k;
}
