// Requests, titles and users of request managers, parsed from answers that are not trusted.
import { isObject } from '#kit/plain-object';

/** Values of `status` of a request. Older products use 4 and 5 for states of availability. */
export const REQUEST_STATUS = { pending: 1, approved: 2, declined: 3, failed: 4, completed: 5 } as const;
/** The status of a title that is available, for which no request is needed. */
export const AVAILABLE = 5;

/** A longer text is not an e-mail address. */
const MAX_EMAIL_LENGTH = 320;
/** Later times have years of more than four digits. */
const MAX_TIME_MS = Date.parse('9999-12-31T00:00:00Z');

export type MediaType = 'movie' | 'tv';

export interface Media {
  readonly mediaType: MediaType;
  readonly tmdbId: number;
  readonly is4k: boolean;
}

export interface RemoteRequest extends Media {
  readonly id: number;
  readonly tvdbId: number | null;
  readonly status: number;
  /** Sorted; empty for movies, and for series without listed seasons. */
  readonly seasons: readonly number[];
  /** Unix milliseconds on the clock of the request manager; 0 when unknown. */
  readonly updatedAtMs: number;
  /** The e-mail address of the requester, in lower case. */
  readonly email: string | null;
}

/** A title as a request manager knows it. */
export interface Title {
  /** The status of the title in normal quality, `status4k` that in 4K; 1 when unknown. */
  readonly status: number;
  readonly status4k: number;
  readonly requests: readonly RemoteRequest[];
  /** Numbers of the regular seasons of a series. */
  readonly seasons: readonly number[];
}

export interface RemoteUser {
  readonly id: number;
  /** In lower case. */
  readonly email: string;
  readonly permissions: number;
}

/** undefined for a request that is not replicated: of another type, such as music, or without valid ids or status. */
export function readRequest(value: unknown, inTitle?: Omit<Media, 'is4k'>): RemoteRequest | undefined {
  if (!isObject(value)) return undefined;
  const media = isObject(value.media) ? value.media : {};
  const mediaType = value.type ?? media.mediaType ?? inTitle?.mediaType;
  const { id, status, is4k = false } = value;
  const tmdbId = media.tmdbId ?? inTitle?.tmdbId;
  if (mediaType !== 'movie' && mediaType !== 'tv') return undefined;
  if (!isPositive(id) || !isPositive(tmdbId) || !isKnownStatus(status) || typeof is4k !== 'boolean') return undefined;
  const { email } = isObject(value.requestedBy) ? value.requestedBy : {};
  const updatedAtMs = typeof value.updatedAt === 'string' ? Date.parse(value.updatedAt) : 0;
  return {
    id,
    mediaType,
    tmdbId,
    tvdbId: isPositive(media.tvdbId) ? media.tvdbId : null,
    is4k,
    status,
    seasons: mediaType === 'tv' ? seasonNumbers(value.seasons) : [],
    updatedAtMs: updatedAtMs > 0 && updatedAtMs < MAX_TIME_MS ? updatedAtMs : 0,
    email: emailOf(email) ?? null,
  };
}

export function readTitle(value: unknown, media: Omit<Media, 'is4k'>): Title {
  const { mediaInfo, seasons } = isObject(value) ? value : {};
  const { status = 1, status4k = 1, requests } = isObject(mediaInfo) ? mediaInfo : {};
  return {
    status: Number(status),
    status4k: Number(status4k),
    requests: listOf(requests).flatMap(request => readRequest(request, media) ?? []),
    seasons: seasonNumbers(seasons).filter(number => number > 0),
  };
}

export function readUser(value: unknown): RemoteUser | undefined {
  if (!isObject(value)) return undefined;
  const { id, permissions } = value;
  const email = emailOf(value.email);
  if (!isPositive(id) || email === undefined || !Number.isInteger(permissions)) return undefined;
  return { id, email, permissions: Number(permissions) };
}

export function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** All numbers of the lists, sorted, each once. */
export function union(...lists: readonly (readonly number[])[]): number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** In lower case. */
function emailOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > MAX_EMAIL_LENGTH) return undefined;
  return value.toLowerCase();
}

/** A request with another status is ignored, because the meaning of the status is unknown. */
function isKnownStatus(status: unknown): status is number {
  return isPositive(status) && status <= REQUEST_STATUS.completed;
}

function seasonNumbers(value: unknown): number[] {
  const numbers = listOf(value).map(season => (isObject(season) ? season.seasonNumber : undefined));
  return union(numbers.filter(number => Number.isSafeInteger(number) && Number(number) >= 0) as number[]);
}
