// Compresses large answers for clients that accept gzip, outside of the event loop.
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createGzip, gunzip, gzip } from 'node:zlib';
import { Answer } from '../contract/route.ts';
import { hasContentType, isRaw, mediaType, type Stringify, serialized } from './answer-body.ts';

const MIN_BYTES = 8 * 1024;
/** The level of compression. Higher levels take twice as long to save another twentieth. */
const LEVEL = 3;
/** The size of decompressed chunks: large ones, because each takes time of the event loop. */
const CHUNK_BYTES = 64 * 1024;
const HEADERS = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };

const deflate = promisify(gzip);
const inflate = promisify(gunzip);
/** The compressed JSON of frozen bodies, which never change. */
const kept = new WeakMap<object, Promise<Buffer>>();

/**
 * The answer in the form that the client accepts: compressed for a client that accepts gzip, unless its body is small;
 * as it is for any other, but decompressed if the handler compressed it.
 */
export async function compressed(
  value: unknown,
  acceptEncoding: string | undefined,
  stringify: Stringify,
): Promise<unknown> {
  const takes = takesGzip(acceptEncoding ?? '');
  if (isGzip(value) || isGzipStream(value))
    return takes ? new Answer(value.body, value.status, { ...value.headers, ...HEADERS }) : unpacked(value);
  if (!takes) return value;
  const { body, status, headers } = value instanceof Answer ? value : new Answer(value, 200, {});
  const typed = hasContentType(headers) ? headers : { ...headers, 'Content-Type': mediaType(value) };
  if (body instanceof Readable) {
    const made = pipeline(body, createGzip({ level: LEVEL }), () => undefined);
    return new Answer(made, status, { ...typed, ...HEADERS });
  }
  if (body === undefined || body === null) return value;
  const content = isRaw(value) ? value.body : serialized(body, stringify);
  if (content.length < MIN_BYTES) return value;
  return new Answer(await deflated(body, content), status, { ...typed, ...HEADERS });
}

/** The compressed content of a body. */
function deflated(body: unknown, content: string | Uint8Array): Promise<Buffer> {
  if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return deflate(content, { level: LEVEL });
  const bytes = kept.get(body) ?? deflate(content, { level: LEVEL });
  kept.set(body, bytes);
  return bytes;
}

/** Whether the handler has compressed the bytes itself. */
export function isGzip(value: unknown): value is Answer<Uint8Array> {
  return value instanceof Answer && value.body instanceof Uint8Array && value.headers['Content-Encoding'] === 'gzip';
}

function isGzipStream(value: unknown): value is Answer<Readable> {
  return value instanceof Answer && value.body instanceof Readable && value.headers['Content-Encoding'] === 'gzip';
}

async function unpacked({
  body,
  status,
  headers,
}: Answer<Uint8Array | Readable>): Promise<Answer<Uint8Array | Readable>> {
  const { 'Content-Encoding': _, ...others } = headers;
  const whole =
    body instanceof Readable
      ? pipeline(body, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined)
      : await inflate(body);
  return new Answer(whole, status, { ...others, Vary: 'Accept-Encoding' });
}

function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some(part => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)|$)/i.test(part));
}
