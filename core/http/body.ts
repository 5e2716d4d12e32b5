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
  const declaredBytes = Number(request.headers['content-length'] ?? 0);
  if (declaredBytes > limitBytes + DRAIN_BYTES) throw tooLarge(limitBytes);
  const body = new ReceivedBody(declaredBytes, limitBytes, share);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      body.add(chunk as Buffer);
      if (body.sizeBytes > limitBytes + DRAIN_BYTES) break;
    }
  } catch (error) {
    throw new Problem(400, 'The body was not received completely', { cause: error });
  }
  return body.bytes();
}

/** A body while it is received; one that is too large, or for which there is no room, is dropped as it comes. */
class ReceivedBody {
  sizeBytes = 0;
  readonly #limitBytes: number;
  readonly #share: BodyShare;
  #takenBytes: number;
  #hasRoom: boolean;
  readonly #chunks: Buffer[] = [];
  /** A large body is received into one buffer, because joining chunks would take twice the memory. */
  readonly #whole: Buffer | undefined;

  constructor(declaredBytes: number, limitBytes: number, share: BodyShare) {
    this.#limitBytes = limitBytes;
    this.#share = share;
    // The declared length is taken at once: if several bodies each took a part, all of them might be refused.
    this.#takenBytes = declaredBytes > limitBytes ? 0 : declaredBytes;
    this.#hasRoom = share.take(this.#takenBytes);
    if (this.#hasRoom && this.#takenBytes > LARGE_TEXT_BYTES) this.#whole = Buffer.allocUnsafeSlow(this.#takenBytes);
  }

  add(chunk: Buffer): void {
    const offset = this.sizeBytes;
    this.sizeBytes += chunk.length;
    if (this.sizeBytes > this.#limitBytes || !this.#takesRoom()) this.#chunks.length = 0;
    else if (this.#whole !== undefined) this.#whole.set(chunk, offset);
    else this.#chunks.push(chunk);
  }

  /** Whether there is room for what was received so far, also beyond the declared length. */
  #takesRoom(): boolean {
    if (this.#hasRoom && this.sizeBytes > this.#takenBytes) {
      this.#hasRoom = this.#share.take(this.sizeBytes - this.#takenBytes);
      this.#takenBytes = this.sizeBytes;
    }
    return this.#hasRoom;
  }

  /** Throws a Problem for a body that was dropped. */
  bytes(): Buffer {
    if (this.sizeBytes > this.#limitBytes) throw tooLarge(this.#limitBytes);
    if (!this.#hasRoom) {
      const headers = { 'Retry-After': String(RETRY_AFTER_S) };
      throw new Problem(503, 'Too many large requests are being handled; try again in a moment', { headers });
    }
    if (this.#whole !== undefined) return this.#whole;
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
  }
}

function tooLarge(limitBytes: number): Problem {
  return new Problem(413, `The body is larger than ${limitBytes} bytes`, { headers: { Connection: 'close' } });
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
