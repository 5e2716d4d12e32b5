// The body of an answer as it is sent: a value as JSON, text and bytes as they are.
import { Answer } from '../contract/route.ts';

export function hasContentType(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) if (name.toLowerCase() === 'content-type') return true;
  return false;
}

/** Longer texts are kept as bytes. Shorter ones stay texts, which Node sends in one piece with the headers. */
const MAX_TEXT_LENGTH = 16 * 1024;
const texts = new WeakMap<object, string | Buffer>();

/** Turns a value into JSON. Accessors and `toJSON` of the value run as code of the plugin that made it. */
export type Stringify = (body: unknown) => string;

/** Throws an Error for a value that has no JSON, such as a function. */
export function jsonOf(body: unknown): string {
  const text = JSON.stringify(body) as string | undefined;
  if (text !== undefined) return text;
  const what = typeof body === 'object' ? 'an object whose toJSON gives nothing' : `a ${typeof body}`;
  throw new Error(`the route gives ${what}, which JSON cannot hold`);
}

/** The JSON of a body. A frozen body never changes, so its JSON is made once and kept. */
export function serialized(body: unknown, stringify: Stringify): string | Buffer {
  if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return stringify(body);
  const known = texts.get(body);
  if (known !== undefined) return known;
  const text = stringify(body);
  const kept = text.length > MAX_TEXT_LENGTH ? Buffer.from(text) : text;
  texts.set(body, kept);
  return kept;
}

/** Whether the value is an `Answer` of text or bytes, which are sent as they are. */
export function isRaw(value: unknown): value is Answer<string | Uint8Array> {
  return value instanceof Answer && (typeof value.body === 'string' || value.body instanceof Uint8Array);
}

export function mediaType(value: unknown): string {
  if (!isRaw(value)) return 'application/json; charset=utf-8';
  return typeof value.body === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}
