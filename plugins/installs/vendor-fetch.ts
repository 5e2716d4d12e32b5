// HTTP to those who publish programs: through the proxy of the environment, to http and https alone.
import { type Host, Problem } from '#core';
import type { SourceRequest } from './contract.ts';

export type VendorFetch = SourceRequest['fetch'];

/** Addresses may come from feeds, so they are looked at first. Throws a Problem 502 for one that is not to be used. */
export function vendorFetch(host: Pick<Host, 'fetch'>): VendorFetch {
  return ((url, options) => host.fetch(checked(url), { ...options, proxied: true })) as VendorFetch;
}

function checked(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain = parsed?.username === '' && parsed.password === '' && !/[\s\p{Cc}]/u.test(url);
  if (parsed === undefined || !isPlain || !['http:', 'https:'].includes(parsed.protocol))
    throw new Problem(502, 'the address of a release is no plain http or https address; choose another release');
  return parsed.href;
}
