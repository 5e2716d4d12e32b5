// Checks the host name of each request while no login is needed, against DNS rebinding: a page of a public name reaches
// this host when the address of that name changes to ours, and only the name shows it. Names that nobody can register
// in public, addresses and the configured names are served.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Problem } from '../contract/problem.ts';
import { addressList } from '../kit/address-list.ts';
import { findClientAddress, networkOf } from '../kit/client-address.ts';
import { type CorsPolicy, isSafe } from './cors-policy.ts';

/** Domains that exist in private networks only. */
const OWN_DOMAINS = ['localhost', 'local', 'lan', 'home', 'home.arpa', 'internal'];
const NAME = /^[a-z0-9_][a-z0-9_.-]{0,252}$/;
const NOT_SERVED =
  'is not served while authentication is off; add its name to dumb.api_service.allowed_hosts, or switch authentication on';

interface Lists {
  readonly root: unknown;
  readonly allowed: ReadonlySet<string>;
  readonly proxies: readonly string[];
  readonly isProxy: (address: string) => boolean;
}

export interface HostNamesOptions {
  config(): Readonly<Record<string, unknown>>;
  readonly origins: CorsPolicy;
  /** Whether callers must log in at present. */
  mustLogIn(): Promise<boolean>;
}

export class HostNames {
  readonly #options: HostNamesOptions;
  #lists: Lists | undefined;
  #lastServed: string | undefined;

  constructor(options: HostNamesOptions) {
    this.#options = options;
  }

  /**
   * undefined for a request that is served in any case. Otherwise resolves with the Problem 403, or with undefined when
   * callers must log in, so that the name does not matter.
   */
  check(request: IncomingMessage): Promise<Problem | undefined> | undefined {
    const fault = this.#faultOf(request);
    if (fault === undefined) return undefined;
    return this.#options.mustLogIn().then(must => (must ? undefined : new Problem(403, fault)));
  }

  /** The network of the client that sent a request, even through trusted proxies. */
  networkOf({ headers, socket }: IncomingMessage): string {
    return networkOf(findClientAddress({ peer: socket.remoteAddress, headers }, this.#known().proxies));
  }

  #faultOf(request: IncomingMessage): string | undefined {
    const { origin, upgrade } = request.headers;
    const foreign = this.#findForeignName(request);
    if (foreign !== undefined) return `The host name ${quoted(foreign)} ${NOT_SERVED}`;
    if (origin === undefined || (upgrade === undefined && isSafe(request.method))) return undefined;
    if (this.#options.origins.allows(origin) || this.#isServed(hostOf(origin))) return undefined;
    return `The site ${quoted(origin)} ${NOT_SERVED}`;
  }

  /**
   * The first host name of the request that is not served: of its `Host` header, or of those a trusted proxy forwards.
   */
  #findForeignName({ headers, socket }: IncomingMessage): string | undefined {
    const forwarded = headers['x-forwarded-host'];
    if (forwarded !== undefined && this.#known().isProxy(socket.remoteAddress ?? '')) {
      return String(forwarded)
        .split(',')
        .map(text => text.trim())
        .find(text => !this.#isServed(text));
    }
    const { host = '' } = headers;
    return this.#isServed(host) ? undefined : host;
  }

  #isServed(host: string | undefined): boolean {
    const { allowed } = this.#known();
    if (host === undefined || host === this.#lastServed) return host !== undefined;
    const name = nameOf(host);
    if (name === '' || !(isOwn(name) || allowed.has(name))) return false;
    this.#lastServed = host;
    return true;
  }

  #known(): Lists {
    const root = this.#options.config();
    if (this.#lists?.root === root) return this.#lists;
    const { allowed_hosts: hosts, trusted_proxies: proxies } = apiService(root);
    this.#lastServed = undefined;
    this.#lists = {
      root,
      allowed: new Set(texts(hosts).map(hostNameIn)),
      proxies: texts(proxies),
      isProxy: addressList(texts(proxies)),
    };
    return this.#lists;
  }
}

function apiService(root: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { api_service: section } = (root.dumb ?? {}) as Readonly<Record<string, unknown>>;
  return (section ?? {}) as Readonly<Record<string, unknown>>;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : [];
}

/** The name that an entry of the allowed hosts means, which may be the address of a site; empty when it has none. */
export function hostNameIn(text: string): string {
  return nameOf(hostOf(text) ?? text);
}

/** The host without port, brackets and trailing dot; empty when it is neither a name nor an address. */
function nameOf(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host.trim().toLowerCase()) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : '';
  const name = plain.replace(/\.$/, '');
  return NAME.test(name) ? name : '';
}

function isOwn(name: string): boolean {
  return !name.includes('.') || isIP(name) !== 0 || OWN_DOMAINS.some(domain => name.endsWith(`.${domain}`));
}

/** The host of an origin; undefined for the opaque origin `null`, and for one without a host, as of an extension. */
function hostOf(origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.host : undefined;
}

function quoted(name: string): string {
  return `'${name.slice(0, 100)}'`;
}
