// Addresses that stand in for the hosts from which programs are fetched, where those cannot be reached.
import { z } from 'zod';

/** In the configuration. */
export const MIRRORS_PATH = ['dumb', 'install_mirrors'];
/** Of a host, in lower case, as addresses have it; with a port where that is not the usual one. */
const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$/;

export const mirrorsSchema = z
  .record(
    z.string().regex(HOST, 'must be the name of a host, such as github.com'),
    z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .refine(text => isPlain(text), 'must have no user, query or fragment'),
  )
  .default({})
  // Also the key by which the packages of the machine are signed comes from there.
  .meta({ needsLogin: true })
  .describe(
    'addresses that stand in for hosts from which programs are installed: what is asked of the host goes to the address, with its path behind that of the address',
  );

export type Mirrors = z.output<typeof mirrorsSchema>;

/** Where an address is asked instead; undefined when nothing stands in for its host. */
export function mirrorOf(url: URL, mirrors: Mirrors): URL | undefined {
  const mirror = [url.host, url.hostname].find(name => Object.hasOwn(mirrors, name));
  if (mirror === undefined) return undefined;
  const address = new URL(mirrors[mirror] ?? '');
  address.pathname = address.pathname.replace(/\/$/, '') + url.pathname;
  address.search = url.search;
  return address;
}

function isPlain(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return `${username}${password}${search}${hash}` === '';
}
