// Mirrors: addresses that are used instead of the hosts from which programs are fetched.
import { z } from 'zod';

/** The path of the mirrors in the configuration. */
export const MIRRORS_PATH = ['dumb', 'install_mirrors'];
/** The name of a host in lower case, with its port unless that is the default one. */
const HOST = /^[a-z0-9.-]+(?::\d{1,5})?$/;

export const mirrorsSchema = z
  .record(
    z.string().regex(HOST, 'must be the name of a host, such as github.com'),
    z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .refine(text => isPlain(text), 'must have no user, query or fragment'),
  )
  .default({})
  // Even the key that signs the packages of the machine is fetched from a mirror.
  .meta({ needsLogin: true })
  .describe(
    'addresses that stand in for hosts from which programs are installed: what is asked of the host goes to the address, with its path behind that of the address',
  );

export type Mirrors = z.output<typeof mirrorsSchema>;

/** The address at the mirror; undefined when there is no mirror for its host. */
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
