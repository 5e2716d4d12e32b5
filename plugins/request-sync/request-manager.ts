// What replication asks and tells a request manager. Every call throws a RemoteError when it fails.
import type { MediaType, RemoteRequest, RemoteUser, Title } from './remote-request.ts';

export interface Page {
  readonly requests: readonly RemoteRequest[];
  /** Of everything on the page, also of what is replicated nowhere. */
  readonly ids: readonly number[];
  /** How much stands on the page, also what has no id. */
  readonly length: number;
  /** How many requests the list has in all. */
  readonly total: number;
}

export interface NewRequest {
  readonly mediaType: MediaType;
  readonly tmdbId: number;
  readonly tvdbId: number | null;
  readonly is4k: boolean;
  readonly seasons: readonly number[] | 'all';
  /** Owner; undefined: the administrator. */
  readonly userId?: number;
  /** Whether the owner asks, so that it is not approved as the administrator's would be. */
  readonly isAskedByUser?: boolean;
}

export interface RequestManager {
  /** Whether it answers. */
  check(): Promise<void>;
  /** The status that refuses the key; undefined when it is accepted. */
  keyRefusal(): Promise<number | undefined>;
  /** Requests, newest first: `PAGE_LENGTH`, or as many as it shows at once. */
  page(sort: 'added' | 'modified', skip: number): Promise<Page>;
  /** null when it is not there; undefined when it is something that is replicated nowhere. */
  request(id: number): Promise<RemoteRequest | null | undefined>;
  title(mediaType: MediaType, tmdbId: number): Promise<Title>;
  users(): Promise<readonly RemoteUser[]>;
  /** undefined when all of it is requested already. */
  create(request: NewRequest): Promise<RemoteRequest | undefined>;
  /** Gives a series request these seasons. null when it is gone, `refused` when it cannot be changed any more. */
  extend(id: number, seasons: readonly number[]): Promise<RemoteRequest | null | 'refused'>;
  /** null when it is gone. */
  approve(id: number): Promise<RemoteRequest | null>;
  /** null when it is gone. */
  decline(id: number): Promise<RemoteRequest | null>;
  /** Also when it was gone before. */
  remove(id: number): Promise<void>;
}

export const PAGE_LENGTH = 100;
