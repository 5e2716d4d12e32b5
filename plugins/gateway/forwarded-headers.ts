// Which headers pass between a browser and the service whose interface it shows, and which ones the gateway sets
// itself.
import type { IncomingMessage, InformationEvent } from 'node:http';

/** Headers that concern a single connection and are never forwarded. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Headers that the gateway sets itself, because the frontend shows interfaces in a frame of its own origin. */
const REPLACED_HEADERS = new Set(['x-frame-options']);
/** Headers that speak for the whole origin, which a service shares with the frontend and with every other interface. */
const ORIGIN_HEADERS = new Set([
  'alt-svc',
  'clear-site-data',
  'nel',
  'service-worker-allowed',
  'strict-transport-security',
]);
/** Headers that only the gateway may set. Many services treat `_` and `-` in a name alike, so both spellings match. */
const GATEWAY_HEADER = /^x[-_](?:real[-_]ip$|forwarded[-_])/;
/** Headers that describe the body of an answer, or how long it may be kept. */
const BODY_HEADER = /^(?:content-(?!security-)|cache-control$|etag$|expires$|last-modified$|accept-ranges$|vary$|age$)/;
const OWN_FRAMES = "frame-ancestors 'self'";

/** `isProxied` says whether the peer is a proxy that is trusted to know how the browser asked. */
export function buildRequestHeaders(
  request: IncomingMessage,
  prefix: string,
  isProxied: boolean,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const connectionHeaders = namedIn(request.headers.connection);
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || HOP_BY_HOP.has(name) || connectionHeaders.has(name)) continue;
    if (!(name.includes('_') && GATEWAY_HEADER.test(name))) headers[name] = value;
  }
  const earlierHops = request.headers['x-forwarded-for'];
  headers['x-forwarded-for'] = [earlierHops, request.socket.remoteAddress].filter(Boolean).join(', ');
  // The service then knows that trailers of its answer arrive.
  if (namedIn(request.headers.te).has('trailers')) Object.assign(headers, { te: 'trailers', connection: 'TE' });
  // `Forwarded` says the same as the X-Forwarded headers, so the client's is dropped, too.
  delete headers.forwarded;
  headers['x-real-ip'] = request.socket.remoteAddress ?? '';
  const told = isProxied ? request.headers : {};
  headers['x-forwarded-proto'] = told['x-forwarded-proto'] ?? 'http';
  headers['x-forwarded-host'] = told['x-forwarded-host'] ?? request.headers.host ?? '';
  headers['x-forwarded-prefix'] = prefix;
  return headers;
}

/**
 * The names that a header lists, in lower case. Headers that `Connection` lists concern a single connection, too.
 */
function namedIn(list: string | string[] | undefined): Set<string> {
  const names = String(list ?? '').toLowerCase();
  return new Set(names.split(',').map(name => name.trim()));
}

/** `headers` holds a list of values for each name, as Node's `headersDistinct` does. */
export function buildResponseHeaders(
  headers: Readonly<Record<string, string[] | undefined>>,
): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  const connectionHeaders = namedIn(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || isWithheld(name) || connectionHeaders.has(name)) continue;
    const [only, ...others] = value;
    if (only !== undefined) result[name] = others.length === 0 ? only : value;
  }
  result['x-frame-options'] = 'SAMEORIGIN';
  const policy = [result['content-security-policy'] ?? []].flat().map(withOwnFrames);
  result['content-security-policy'] = policy.length === 0 ? OWN_FRAMES : policy;
  return result;
}

/**
 * The lines of an answer that refuses an upgrade, which say what a client must do to be accepted. The gateway writes a
 * body of its own, so what tells of the service's body is left out.
 */
export function refusalLines(headers: Readonly<Record<string, string[] | undefined>>): string[] {
  const forwarded = Object.entries(buildResponseHeaders(headers)).filter(([name]) => !BODY_HEADER.test(name));
  return forwarded.flatMap(([name, value]) => [value].flat().map(one => `${name}: ${one}`));
}

/** An answer before the final one, as `103 Early Hints`, as its bytes in Latin-1. */
export function interimAnswer({ statusCode, statusMessage, rawHeaders }: InformationEvent): string {
  const lines = forwardedPairs(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`;
}

/** The headers that may pass, of a list of names and values by turns: what Node has read of a service. */
export function forwardedPairs(raw: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    if (!isWithheld(name.toLowerCase())) pairs.push([name, value]);
  }
  return pairs;
}

function isWithheld(name: string): boolean {
  return HOP_BY_HOP.has(name) || REPLACED_HEADERS.has(name) || ORIGIN_HEADERS.has(name);
}

/** The policy, changed to allow frames in pages of the same origin only. */
function withOwnFrames(policy: string): string {
  const kept = policy.split(';').filter(part => !/^\s*(frame-ancestors(\s|$)|$)/i.test(part));
  return [...kept.map(part => part.trim()), OWN_FRAMES].join('; ');
}
