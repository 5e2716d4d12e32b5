// Sends the answer to a request: status, headers, and whatever its body is.
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { Answer } from '../contract/route.ts';
import { hasContentType, isRaw, mediaType, type Stringify, serialized } from './answer-body.ts';

const NO_HEADERS = Object.freeze({});
/** Answers of these have neither a body nor its length. */
const BODILESS = [204, 304];

/** What a handler gives, unless it is an answer itself, is the body of one. */
export function asAnswer(value: unknown): Answer<unknown> {
  return value instanceof Answer ? value : new Answer(value ?? null, 200, NO_HEADERS);
}

export function sendPreflight(response: ServerResponse, allow: string, common: readonly string[]): void {
  const own = {
    Allow: allow,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '600',
  };
  response.writeHead(204, joined(common, own)).end();
}

/** Headers are written at once, because setting each by itself costs more than the rest of a small answer. */
export function sendAnswer(
  response: ServerResponse,
  value: unknown,
  common: readonly string[],
  stringify: Stringify,
): void {
  const { body, status, headers } = asAnswer(value);
  if (response.destroyed) {
    if (body instanceof Readable) body.destroy();
    return;
  }
  const list = joined(common, headers);
  if (body instanceof Readable) {
    response.writeHead(status, list);
    // A failing source cuts the connection, which tells the client that the answer is not whole.
    pipeline(body, response, () => undefined);
    return;
  }
  if (body === undefined) {
    if (!BODILESS.includes(status)) list.push('Content-Length', '0');
    response.writeHead(status, list).end();
    return;
  }
  const content = isRaw(value) ? value.body : serialized(body, stringify);
  if (!hasContentType(headers)) list.push('Content-Type', mediaType(value));
  list.push('Content-Length', String(Buffer.byteLength(content)));
  response.writeHead(status, list).end(content);
}

/** The common headers, but for those that the answer's own replace, and its own. */
function joined(common: readonly string[], headers: Readonly<Record<string, string>>): string[] {
  const own = Object.entries(headers);
  if (own.length === 0) return [...common];
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  const kept = common.filter((_text, index) => !names.has(common[index - (index % 2)]?.toLowerCase() ?? ''));
  return [...kept, ...own.flat()];
}
