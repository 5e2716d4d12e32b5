// The body of an answer as it goes out: JSON of a value, or text and bytes as they are.
import { Answer } from '../contract/route.ts';

export function hasContentType(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (name.toLowerCase() === 'content-type') return true;
  return false;
}

/** Longer texts are kept as bytes; shorter ones go out in one piece with their headers. */
const MAX_TEXT_LENGTH = 16 * 1024;
const texts = new WeakMap<object, string | Buffer>();

/** Turns a value into JSON. Its accessors and its `toJSON` are code of whoever made it. */
export type Stringify = (body: unknown) => string;

/** A frozen answer is the same whenever it is given again, so it is turned into text once. */
export function serialized(body: unknown, stringify: Stringify): string | Buffer {
  if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return stringify(body);
  const known = texts.get(body);
  if (known !== undefined) return known;
  const text = stringify(body);
  const kept = text.length > MAX_TEXT_LENGTH ? Buffer.from(text) : text;
  texts.set(body, kept);
  return kept;
}

/** Text and bytes of an `Answer` are sent as they are, and so is what is read from a stream. */
export function isRaw(value: unknown): value is Answer<string | Uint8Array> {
  return value instanceof Answer && (typeof value.body === 'string' || value.body instanceof Uint8Array);
}

export function mediaType(value: unknown): string {
  if (!isRaw(value)) return 'application/json; charset=utf-8';
  return typeof value.body === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}
