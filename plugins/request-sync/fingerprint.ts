// The name under which everything about one title in one quality is kept: `movie:603:False`.
import { isPositive, type Media, type MediaType } from './remote-request.ts';

const SHAPE = /^(movie|tv):(\d{1,16}):(true|false)$/i;

/** `is4kSeparate` false makes 4K requests those of the normal quality. */
export function fingerprintOf({ mediaType, tmdbId, is4k }: Media, is4kSeparate: boolean): string {
  return `${mediaType}:${tmdbId}:${is4k && is4kSeparate ? 'True' : 'False'}`;
}

/** undefined for a text that is no fingerprint. */
export function mediaOf(fingerprint: string): Media | undefined {
  const [, mediaType = '', number, is4k = ''] = SHAPE.exec(fingerprint) ?? [];
  const tmdbId = Number(number);
  if (!isPositive(tmdbId)) return undefined;
  return { mediaType: mediaType.toLowerCase() as MediaType, tmdbId, is4k: is4k.toLowerCase() === 'true' };
}

/** The same fingerprint as it is written in the state, whatever the case of its last part. */
export function normalFingerprint(text: string): string {
  const media = mediaOf(text.trim());
  return media === undefined ? text : fingerprintOf(media, true);
}
