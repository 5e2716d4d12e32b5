// What a subordinate holds for a fingerprint, as the state file keeps it, and what each answer makes of it.
import { type Media, type RemoteRequest, union } from './remote-request.ts';

/** Members by the names of the file; unknown ones of an existing file are kept. */
export interface Holding {
  /** Of the newest request; 0 where there is nothing to track. */
  readonly id: number;
  /** The real one on the subordinate, as far as its answers told. */
  readonly status: number;
  readonly synced_at: string;
  /** Requests that were created here, which alone may be declined or deleted. */
  readonly ids?: readonly number[];
  /** What was asked for; absent where an earlier program wrote the entry. */
  readonly seasons?: readonly number[];
  /** Whether the request was there before. */
  readonly adopted?: boolean;
  /** Whether somebody removed the request on the subordinate. */
  readonly gone?: boolean;
  /** Whether it must be read before it is used, because it was deleted on the primary and requested again. */
  readonly unsure?: boolean;
}

export function ownIds({ id, ids, adopted }: Holding): readonly number[] {
  return ids ?? (id === 0 || adopted === true ? [] : [id]);
}

/** After a creation: of the first request, or of one with further seasons. */
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

/** After a refusal because everything is requested already; `found` is the request that was there. */
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

/** After one of its requests was deleted; undefined when it was the last. */
export function withoutRequest(holding: Holding, id: number): Holding | undefined {
  const ids = ownIds(holding).filter(other => other !== id);
  const newest = ids.at(-1);
  return newest === undefined ? undefined : { ...withoutSeasons(holding), ids, id: newest };
}

/** Which seasons its other requests have must be asked for, because one of them was withdrawn. */
export function withoutSeasons({ seasons: _, ...holding }: Holding): Holding {
  return holding;
}

/** After its request was deleted on the primary and requested again: what was removed here may be created once more. */
export function unsure({ gone: _, ...holding }: Holding): Holding {
  return { ...holding, unsure: true };
}

/** Whether an id leads to a request for this title, or after a loss of the subordinate's data to another's. */
export function isFor(request: RemoteRequest, { mediaType, tmdbId, is4k }: Media): boolean {
  return request.mediaType === mediaType && request.tmdbId === tmdbId && request.is4k === is4k;
}
