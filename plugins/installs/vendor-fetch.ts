// HTTP to the publishers of programs, through the proxy of the environment and the mirrors of the configuration. Only
// public addresses are allowed, because addresses come from feeds that are not trusted.
import { type FetchAnswer, type FetchOptions, type FetchStream, type Host, Problem } from '#core';
import { addressesOf, addressKind } from '#kit/address-kind';
import { isLoopback } from '#kit/loopback';
import type { SourceRequest } from './contract.ts';
import { type Mirrors, mirrorOf } from './mirrors.ts';

export type VendorFetch = SourceRequest['fetch'];

const REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];
const HTTPS_PORT = 443;
/** The headers that are sent on to another origin after a redirect; any other may be a credential. */
const HARMLESS_HEADERS = new Set(['accept', 'accept-language', 'if-range', 'range', 'user-agent']);

/** How an address is requested. */
interface Way {
  readonly url: URL;
  /** Whether the user chose the address, as a mirror: it may be private, and redirect within its origin. */
  readonly isChosen: boolean;
  readonly options: Pick<FetchOptions, 'proxied' | 'addresses'>;
}

/**
 * A fetch that follows redirects. It rejects with a Problem 502 for an address that is not allowed and for too many
 * redirects, and with the errors of `host.fetch`.
 */
export function vendorFetch(host: Pick<Host, 'fetch' | 'use'>): VendorFetch {
  return ((address: string, options: FetchOptions = {}) => fetchFollowing(host, address, options)) as VendorFetch;
}

async function fetchFollowing(
  host: Pick<Host, 'fetch' | 'use'>,
  address: string,
  options: FetchOptions,
): Promise<FetchAnswer | FetchStream> {
  const { redirects = REDIRECTS } = options;
  let way = await wayTo(checked(address), mirrorsOf(host));
  let { headers = {} } = options;
  for (let count = 0; ; count += 1) {
    const answer = await host.fetch(way.url.href, { ...options, ...way.options, headers, redirects: 0 });
    const location = redirects === 0 ? undefined : locationOf(answer);
    if (location === undefined) return answer;
    await leave(answer);
    if (count === redirects)
      throw new Problem(502, `${way.url.host} redirects more than ${redirects} times; try again later`);
    const next = checked(URL.canParse(location, way.url.href) ? new URL(location, way.url).href : location);
    const isWithin = next.origin === way.url.origin;
    if (!isWithin) headers = harmless(headers);
    way = isWithin && way.isChosen ? { ...way, url: next } : await wayTo(next, mirrorsOf(host));
  }
}

function mirrorsOf(host: Pick<Host, 'use'>): Mirrors {
  const { dumb } = host.use('config.store').root() as { dumb: { install_mirrors?: Mirrors } };
  return dumb.install_mirrors ?? {};
}

/** The place to which an answer redirects; undefined for any other answer. */
function locationOf({ status, headers: { location } }: FetchAnswer | FetchStream): string | undefined {
  return REDIRECT_STATUSES.includes(status) && typeof location === 'string' ? location : undefined;
}

function checked(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain = url?.username === '' && url.password === '' && !/[\s\p{Cc}]/u.test(address);
  if (url === undefined || !isPlain || !['http:', 'https:'].includes(url.protocol))
    throw new Problem(502, 'the address of a release is no plain http or https address; choose another release');
  return url;
}

async function wayTo(url: URL, mirrors: Mirrors): Promise<Way> {
  const mirror = mirrorOf(url, mirrors);
  if (mirror !== undefined) return { url: mirror, isChosen: true, options: { proxied: !isLoopback(bareHost(mirror)) } };
  if (url.protocol !== 'https:')
    throw new Problem(
      502,
      `${url.host} gives programs by http, so that anybody on the way could exchange them; choose another release, or name an address for it in dumb.install_mirrors`,
    );
  // A proxy resolves names itself; this machine may not be able to.
  const isProxied = PROXY_VARIABLES.some(name => (process.env[name] ?? '') !== '') && !isDirect(url);
  const isNamed = /[a-z]/i.test(url.hostname) && !url.hostname.startsWith('[');
  if (isProxied && isNamed && !isLocalName(url.hostname)) return { url, isChosen: false, options: { proxied: true } };
  const addresses = await addressesOf(url);
  if (addresses.some(address => addressKind(address) !== 'public'))
    throw new Problem(
      502,
      `${url.host} is no machine of the internet, so no program is fetched from it; if it is meant, name an address for it in dumb.install_mirrors`,
    );
  return { url, isChosen: false, options: { addresses } };
}

/** Whether `no_proxy` excludes the address from the proxy, read as the HTTP client reads it. */
function isDirect({ hostname, port }: URL): boolean {
  const told = process.env.no_proxy ?? process.env.NO_PROXY ?? '';
  if (told === '*') return true;
  return told
    .split(/[,\s]/)
    .filter(Boolean)
    .some(entry => {
      const [, host = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
      const name = host.replace(/^\*?\./, '').toLowerCase();
      const isPort = only === undefined || Number(only) === Number(port || HTTPS_PORT);
      return isPort && (hostname === name || hostname.endsWith(`.${name}`));
    });
}

function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Closes the connection of an answer whose body is not read. */
async function leave(answer: FetchAnswer | FetchStream): Promise<void> {
  if ('body' in answer) for await (const _part of answer.body) break;
}

function harmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.has(name.toLowerCase())));
}
