// Reads the body of a request as JSON: limited in size and depth, and without keys that could reach a prototype.
import type { IncomingMessage } from 'node:http';
import { Problem } from '../contract/problem.ts';
import { refuseCostlyJson } from '../kit/nesting.ts';
import { plainData, refuseForbiddenKeys } from '../kit/plain-data.ts';
import { LARGE_TEXT_BYTES, readText } from '../kit/text-thread.ts';
import type { BodyShare } from './body-budget.ts';

/**
 * How much beyond the limit is read and dropped, because many clients read a refusal only after they have sent the
 * body.
 */
const DRAIN_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER_S = 1;

/**
 * The value of the body; undefined for an empty one, whatever its content type. Throws a Problem: 400 when it is not
 * valid JSON or has a forbidden shape, 413 above `limitBytes` or when it costs too much, 415 for another media type,
 * 503 when the bodies in flight leave no room for it. The caller releases `share`.
 */
export async function readJson(
  request: IncomingMessage,
  { limitBytes, holdsForeignNames }: { readonly limitBytes: number; readonly holdsForeignNames: boolean },
  share: BodyShare,
): Promise<unknown> {
  const bytes = await readBytes(request, limitBytes, share);
  if (bytes.length === 0) return undefined;
  refuseMediaType(request);
  return readText(import.meta.url, parseBody, bytes, holdsForeignNames);
}

/**
 * The value of the JSON, whose objects have no prototype. Throws a Problem 400.
 *
 * @public The thread for large texts calls it by its name.
 */
export function parseBody(bytes: Uint8Array, holdsForeignNames: boolean): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Problem(400, 'The body is not valid UTF-8', { cause: error });
  }
  refuseCostlyJson(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Problem(400, 'The body is not valid JSON', { cause: error });
  }
  plainData(value);
  if (!holdsForeignNames) refuseForbiddenKeys(value);
  return value;
}

async function readBytes(request: IncomingMessage, limitBytes: number, share: BodyShare): Promise<Buffer> {
  const tooLarge = () =>
    new Problem(413, `The body is larger than ${limitBytes} bytes`, { headers: { Connection: 'close' } });
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  if (declaredBytes > limitBytes + DRAIN_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // The declared length is taken at once: if several bodies each took a part, all of them might be refused.
  let takenBytes = declaredBytes > limitBytes ? 0 : declaredBytes;
  let hasRoom = share.take(takenBytes);
  // A large body is received into one buffer, because joining chunks would take twice the memory.
  const whole = hasRoom && takenBytes > LARGE_TEXT_BYTES ? Buffer.allocUnsafeSlow(takenBytes) : undefined;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      sizeBytes += (chunk as Buffer).length;
      if (sizeBytes > limitBytes + DRAIN_BYTES) break;
      if (hasRoom && sizeBytes > takenBytes && sizeBytes <= limitBytes) {
        hasRoom = share.take(sizeBytes - takenBytes);
        takenBytes = sizeBytes;
      }
      if (sizeBytes > limitBytes || !hasRoom) chunks.length = 0;
      else if (whole !== undefined) whole.set(chunk as Buffer, sizeBytes - (chunk as Buffer).length);
      else chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw new Problem(400, 'The body was not received completely', { cause: error });
  }
  if (sizeBytes > limitBytes) throw tooLarge();
  if (!hasRoom) {
    const headers = { 'Retry-After': String(RETRY_AFTER_S) };
    throw new Problem(503, 'Too many large requests are being handled; try again in a moment', { headers });
  }
  if (whole !== undefined) return whole;
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

function refuseMediaType(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map(text => text.trim()).find(text => text.startsWith('charset='));
  if (type.trim() !== 'application/json') {
    throw new Problem(415, 'The body must be JSON with content type application/json');
  }
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) throw new Problem(415, 'The body must be UTF-8');
  if (!['', 'identity'].includes(request.headers['content-encoding'] ?? '')) {
    throw new Problem(415, 'The body must not be compressed');
  }
}
