// The calls of replication to a request manager. Each rejects with a RemoteError when it fails.
import type { MediaType, RemoteRequest, RemoteUser, Title } from './remote-request.ts';

export interface Page {
  readonly requests: readonly RemoteRequest[];
  /** The ids of everything on the page, including requests that are not replicated. */
  readonly ids: readonly number[];
  /** How many elements the page has, including those without an id. */
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
  /** The owner of the request; undefined for the administrator. */
  readonly userId?: number;
  /** Whether the request is made in the name of the owner, so that it is not approved like one of the administrator. */
  readonly isAskedByUser?: boolean;
}

export interface RequestManager {
  /** Resolves when the request manager answers. */
  check(): Promise<void>;
  /** The HTTP status by which the key is refused; undefined when it is accepted. */
  keyRefusal(): Promise<number | undefined>;
  /** A page of requests, newest first: `PAGE_LENGTH`, or fewer if the request manager gives fewer at once. */
  page(sort: 'added' | 'modified', skip: number): Promise<Page>;
  /** null when the request does not exist; undefined when it is not one that is replicated. */
  request(id: number): Promise<RemoteRequest | null | undefined>;
  title(mediaType: MediaType, tmdbId: number): Promise<Title>;
  users(): Promise<readonly RemoteUser[]>;
  /** undefined when everything is requested already. */
  create(request: NewRequest): Promise<RemoteRequest | undefined>;
  /** Sets the seasons of a series request. null when it is gone, `refused` when it cannot be changed any more. */
  extend(id: number, seasons: readonly number[]): Promise<RemoteRequest | null | 'refused'>;
  /** null when the request is gone. */
  approve(id: number): Promise<RemoteRequest | null>;
  /** null when the request is gone. */
  decline(id: number): Promise<RemoteRequest | null>;
  /** Resolves when the request is gone, even if it was before. */
  remove(id: number): Promise<void>;
}

export const PAGE_LENGTH = 100;
