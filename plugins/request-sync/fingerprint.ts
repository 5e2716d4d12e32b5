// Fingerprints: the names of titles in one quality, under which the state is kept, such as `movie:603:False`.
import { isPositive, type Media, type MediaType } from './remote-request.ts';

const SHAPE = /^(movie|tv):(\d{1,16}):(true|false)$/i;

/** When `is4kSeparate` is false, 4K requests count as requests of the normal quality. */
export function fingerprintOf({ mediaType, tmdbId, is4k }: Media, is4kSeparate: boolean): string {
  return `${mediaType}:${tmdbId}:${is4k && is4kSeparate ? 'True' : 'False'}`;
}

/** undefined for a text that is not a fingerprint. */
export function mediaOf(fingerprint: string): Media | undefined {
  const [, mediaType = '', number, is4k = ''] = SHAPE.exec(fingerprint) ?? [];
  const tmdbId = Number(number);
  if (!isPositive(tmdbId)) return undefined;
  return { mediaType: mediaType.toLowerCase() as MediaType, tmdbId, is4k: is4k.toLowerCase() === 'true' };
}

/** The fingerprint in the form of the state, whatever its case; a text that is not a fingerprint stays as it is. */
export function normalFingerprint(text: string): string {
  const media = mediaOf(text.trim());
  return media === undefined ? text : fingerprintOf(media, true);
}
