// Sends the answer to a request: its status, its headers and its body, which may be a stream.
import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { Answer } from '../contract/route.ts';
import { hasContentType, isRaw, mediaType, type Stringify, serialized } from './answer-body.ts';

const NO_HEADERS = Object.freeze({});
/** Answers with these statuses have neither a body nor a Content-Length. */
const BODILESS = [204, 304];

/** The result of a handler as an `Answer`: any other value is the body of a 200. */
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

/** Writes all headers in one call, because setting each costs more than the rest of a small answer. */
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

/** The answer's own headers, and the common ones that they do not replace. */
function joined(common: readonly string[], headers: Readonly<Record<string, string>>): string[] {
  const own = Object.entries(headers);
  if (own.length === 0) return [...common];
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  const kept = common.filter((_text, index) => !names.has(common[index - (index % 2)]?.toLowerCase() ?? ''));
  return [...kept, ...own.flat()];
}
