// Parses the URL of a destination. Unlike in web addresses, hosts keep their case and `#` does not begin a fragment.
import { isIPv6 } from 'node:net';
import { Problem } from '#core';
import { percentDecoded } from '#kit/percent-decoded';
import type { DestinationUrl, MessageFormat } from './contract.ts';
import { headerFault } from './request-headers.ts';
import { wellFormed } from './short-text.ts';

const URL_FORM = /^([a-z][a-z0-9+.-]{0,31}):\/\/([^/?]*)([^?]*)(?:\?(.*))?$/is;
const SECOND_URL = /[\s,][a-z][a-z0-9+.-]{0,31}:\/\//i;
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/i;
const MAX_PORT = 65_535;
const MIN_TIMEOUT_S = 1;
const MAX_TIMEOUT_S = 15;

/** Options about the delivery that the query of every URL may contain. */
export interface UrlOptions {
  readonly verifyTls: boolean;
  readonly format: MessageFormat;
  readonly overflow: 'truncate' | 'split' | 'upstream';
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
}

/** The options of a generic webhook, whose query belongs to its receiver. */
const WEBHOOK_OPTIONS: UrlOptions = {
  verifyTls: true,
  format: 'text',
  overflow: 'truncate',
  connectTimeoutMs: MAX_TIMEOUT_S * 1_000,
  readTimeoutMs: MAX_TIMEOUT_S * 1_000,
};

/** The scheme in lower case; undefined when the text has none. */
export function schemeOf(text: string): string | undefined {
  return URL_FORM.exec(text.trim())?.[1]?.toLowerCase();
}

export function holdsTwoUrls(text: string): boolean {
  return SECOND_URL.test(text.trim());
}

/** `schemes` are those of the destination. Throws a Problem 400 that contains no part of the URL. */
export function readUrl(
  given: string,
  schemes: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): DestinationUrl {
  const text = wellFormed(given.trim());
  const [, rawScheme = '', authority = '', path = '', query = ''] = URL_FORM.exec(text) ?? [];
  if (rawScheme === '') throw new Problem(400, 'The URL has no scheme: it must begin with one, such as https://');
  const scheme = rawScheme.toLowerCase();
  const at = authority.lastIndexOf('@');
  const [user, password] = at < 0 ? ['', ''] : cutAt(authority.slice(0, at), ':');
  const place = authority.slice(at + 1);
  const { host, port } = readPlace(place);
  const members = readQuery(query);
  const isSecure = scheme === 'https' || (scheme.endsWith('s') && schemes.includes(scheme.slice(0, -1)));
  const segments = path
    .split('/')
    .map(percentDecoded)
    .filter(part => part !== '');
  const prefixed = (sign: string): Record<string, string> =>
    Object.fromEntries([...members].flatMap(([key, value]) => (key.startsWith(sign) ? [[key.slice(1), value]] : [])));
  return {
    text,
    scheme,
    isSecure,
    user: percentDecoded(user),
    password: percentDecoded(password),
    host: percentDecoded(host),
    port,
    authority: percentDecoded(place),
    segments,
    query: members,
    headers,
    prefixed,
    base: defaultPort => baseOf(isSecure, percentDecoded(host), port ?? defaultPort),
    path: (start, end) =>
      segments
        .slice(start, end)
        .map(part => `/${encodeURIComponent(part)}`)
        .join(''),
    extraHeaders() {
      const extra = prefixed('+');
      const fault = headerFault(extra);
      if (fault !== undefined) throw new Problem(400, fault);
      return extra;
    },
  };
}

/** `schemes` are those of the destination. */
export function readOptions({ scheme, query }: DestinationUrl, schemes: readonly string[]): UrlOptions {
  if (/^https?$/.test(scheme) && schemes.includes(scheme)) return WEBHOOK_OPTIONS;
  const format = query.get('format')?.toLowerCase();
  const overflow = query.get('overflow')?.toLowerCase();
  return {
    verifyTls: !/^(?:no|false|0|off|n|f|disabled?|never)$/i.test(query.get('verify') ?? ''),
    format: format === 'markdown' || format === 'html' ? format : 'text',
    overflow: overflow === 'split' || overflow === 'upstream' ? overflow : 'truncate',
    connectTimeoutMs: timeoutMs(query.get('cto')),
    readTimeoutMs: timeoutMs(query.get('rto')),
  };
}

function timeoutMs(seconds: string | undefined): number {
  const value = Number.parseFloat(seconds ?? '');
  const whole = Number.isNaN(value) ? MAX_TIMEOUT_S : Math.ceil(value);
  return Math.min(Math.max(whole, MIN_TIMEOUT_S), MAX_TIMEOUT_S) * 1_000;
}

function readPlace(place: string): { host: string; port: number | null } {
  const [, address, after] = /^\[([^\]]*)\](?::(.*))?$/s.exec(place) ?? [];
  const isAddress = address !== undefined && isIPv6(address);
  const [host, port] = isAddress ? [address, after ?? ''] : cutAt(place, ':');
  if (port === '') return { host, port: null };
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  // Without a valid port the whole text counts as the host: some services put something else there.
  return number > 0 && number <= MAX_PORT ? { host, port: number } : { host: place, port: null };
}

function baseOf(isSecure: boolean, host: string, port: number | undefined): string {
  const isAddress = isIPv6(host);
  const name = isAddress ? `[${host}]` : host;
  const base = `${isSecure ? 'https' : 'http'}://${name}${port === undefined ? '' : `:${port}`}`;
  // A host whose last part is a number must be an IPv4 address: `canParse` refuses `080` and `256.1.1.1`.
  if ((!isAddress && !HOST_NAME.test(host)) || !URL.canParse(base)) {
    throw new Problem(400, 'The URL names no host: after the scheme stands a name or an address, and perhaps a port');
  }
  return base;
}

function readQuery(query: string): Map<string, string> {
  const members = new Map<string, string>();
  for (const part of query.split('&')) {
    const [rawKey, value] = cutAt(part, '=');
    const key = percentDecoded(rawKey);
    const name = /^[+:-]/.test(key) ? key : key.toLowerCase();
    if (name !== '' && !members.has(name)) members.set(name, percentDecoded(value));
  }
  return members;
}

function cutAt(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
