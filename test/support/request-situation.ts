// Titles, requests and groups of requests, for the decisions about one title.
import { groupOf } from '../../plugins/request-sync/group.ts';
import type { RemoteRequest, Title } from '../../plugins/request-sync/remote-request.ts';

export const MOVIE = { mediaType: 'movie', tmdbId: 603, is4k: false } as const;
export const SERIES = { mediaType: 'tv', tmdbId: 1399, is4k: false } as const;
export const STATUS = { pending: 1, approved: 2, declined: 3, failed: 4, completed: 5 };

export const request = (more: Partial<RemoteRequest> = {}): RemoteRequest => ({
  ...MOVIE,
  id: 7,
  tvdbId: null,
  status: STATUS.approved,
  seasons: [],
  updatedAtMs: 1,
  email: 'one@example.com',
  ...more,
});
export const group = (status: number, more: Partial<RemoteRequest> = {}, isWhole = true) => {
  const asked = request({ id: 70, status, ...more });
  return groupOf(`${asked.mediaType}:${asked.tmdbId}:${asked.is4k ? 'True' : 'False'}`, [asked], isWhole);
};
export const title = (more: Partial<Title> = {}): Title => ({
  status: 1,
  status4k: 1,
  requests: [],
  seasons: [1, 2],
  ...more,
});
