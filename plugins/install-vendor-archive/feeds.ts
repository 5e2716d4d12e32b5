// The forms in which vendors announce their archives: XML about the newest one, a JSON list, or a redirection.
import { z } from 'zod';
import { type FetchAnswer, type FetchOptions, Problem } from '#core';
import { statusFault } from '#kit/server-fault';
import { toldUrl } from '#kit/told-url';
import type { DownloadOptions, SourceRequest } from '../installs/contract.ts';
import type { VendorFacts } from './vendor-facts.ts';
import { xmlElements } from './xml-elements.ts';

export interface PublishedArchive {
  readonly version: string;
  readonly url: URL;
  readonly digest: DownloadOptions['digest'];
  /** null when that is unknown. */
  readonly releasesBehind: number | null;
}

export type ListedRelease = z.output<typeof release>;

const FEED_MAX_BYTES = 4 * 1024 * 1024;
/** The limit for one feed; up to three are asked one after the other. */
const FEED_LIMIT_MS = 9_000;
const MAX_LISTED = 1_000;
const REDIRECTS = [301, 302, 303, 307, 308];
const VERSION = /^v?\d[\w.+~-]{0,99}$/;
const VERSION_IN_NAME = /(?<!\d)\d+(?:\.\d+){2,3}/;
const ALGORITHMS = new Map<number, 'sha256' | 'sha512'>([
  [64, 'sha256'],
  [128, 'sha512'],
]);
const release = z.lazy(() =>
  z.object({ version: z.string().regex(VERSION), url: z.string(), hash: z.string().nullish() }),
);
/** A release of an unknown form is left out of the list. */
const releases = z.lazy(() =>
  z
    .array(release.nullable().catch(null))
    .max(MAX_LISTED)
    .transform(list => list.filter(one => one !== null)),
);

/** The newest release in the vendor's XML feed, which is requested with `headers`. */
export async function xmlRelease(
  request: SourceRequest,
  address: string,
  names: NonNullable<VendorFacts['feed']>,
  headers: Readonly<Record<string, string>>,
): Promise<PublishedArchive> {
  const { host } = new URL(address);
  const answer = await ask(request, address, { headers });
  if (answer.status !== 200) throw statusFault(address, answer, 'its feed');
  const elements = xmlElements(answer.text, host);
  const told = (name: string): string => {
    const [element, attribute = ''] = name.split('@');
    const found = elements.find(other => other.name === element)?.attributes.get(attribute);
    if (found === undefined) throw new Problem(502, `The feed of ${host} has no ${name}; try again later`);
    return found;
  };
  const version = told(names.version);
  if (!VERSION.test(version)) throw new Problem(502, `The feed of ${host} has no version; try again later`);
  return { version, url: toldUrl(told(names.archive), address), digest: undefined, releasesBehind: null };
}

/** The releases in a list, the newest first. */
export async function releaseList(request: SourceRequest, address: string): Promise<ListedRelease[]> {
  const { host } = new URL(address);
  const answer = await ask(request, address);
  if (answer.status !== 200) throw statusFault(address, answer, 'its list of releases');
  const read = releases.safeParse(jsonOf(answer));
  if (!read.success || read.data.length === 0)
    throw new Problem(502, `${host} did not answer with a list of releases; try again later`);
  // Numbers within versions are compared as numbers.
  const { compare } = new Intl.Collator('en', { numeric: true });
  return read.data.sort((a, b) => compare(b.version, a.version));
}

/** The archive of an entry in the list at `address`. */
export function listedArchive(
  { version, url, hash }: ListedRelease,
  address: string,
): Omit<PublishedArchive, 'releasesBehind'> {
  const { host } = new URL(address);
  const hex = (hash ?? '').toLowerCase();
  const algorithm = ALGORITHMS.get(hex.length);
  if (hex !== '' && (algorithm === undefined || !/^[0-9a-f]+$/.test(hex)))
    throw new Problem(502, `${host} tells a hash of ${version} that is not known; select another version`);
  const digest = algorithm === undefined ? undefined : { algorithm, hex };
  return { version, url: toldUrl(url, address), digest };
}

/** The archive to which an address for the newest one redirects; its file name holds the version. */
export async function redirectedArchive(request: SourceRequest, address: string): Promise<PublishedArchive> {
  const { host } = new URL(address);
  const answer = await ask(request, address, { redirects: 0 });
  const location = [answer.headers.location].flat()[0];
  if (!REDIRECTS.includes(answer.status) || location === undefined)
    throw statusFault(address, answer, 'the address of its newest archive');
  const url = toldUrl(location, address);
  const version = VERSION_IN_NAME.exec(url.pathname.slice(url.pathname.lastIndexOf('/')))?.[0];
  if (version === undefined) throw new Problem(502, `${host} leads to an archive without a version; try again later`);
  return { version, url, digest: undefined, releasesBehind: null };
}

function ask(
  { fetch, signal }: SourceRequest,
  address: string,
  options: Pick<FetchOptions, 'headers' | 'redirects'> = {},
): Promise<FetchAnswer> {
  return fetch(address, { ...options, maxBytes: FEED_MAX_BYTES, timeoutMs: FEED_LIMIT_MS, signal });
}

/** undefined when the answer is no JSON. */
function jsonOf(answer: FetchAnswer): unknown {
  try {
    return answer.json();
  } catch {
    return undefined;
  }
}
