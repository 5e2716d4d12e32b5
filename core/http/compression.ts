// Large answers are made smaller for clients that take gzip, outside of the event loop.
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, createGzip, gunzip, gzip } from 'node:zlib';
import { Answer } from '../contract/route.ts';
import { hasContentType, isRaw, mediaType, type Stringify, serialized } from './answer-body.ts';

const MIN_BYTES = 8 * 1024;
/** Levels above it take twice as long for a twentieth less. */
const LEVEL = 3;
/** Of what is unpacked for others: fewer, larger pieces take the event loop less. */
const CHUNK_BYTES = 64 * 1024;
const HEADERS = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };

const deflate = promisify(gzip);
const inflate = promisify(gunzip);
/** Of frozen answers, which are the same whenever they are given again. */
const kept = new WeakMap<object, Promise<Buffer>>();

/**
 * The answer as it was for a client that does not take gzip, and for a small body; bytes by gzip for all that take it.
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
  const isKept = typeof body === 'object' && Object.isFrozen(body);
  const known = isKept ? kept.get(body) : undefined;
  const bytes = known ?? deflate(content, { level: LEVEL });
  if (isKept) kept.set(body, bytes);
  return new Answer(await bytes, status, { ...typed, ...HEADERS });
}

/** Whether a route has compressed its bytes itself. */
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
