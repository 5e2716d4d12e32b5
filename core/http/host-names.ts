// Tells by which host names a request may come while nobody must log in: those that no foreign page can make its own.
// A page of a public name reaches this host when that name's address changes to ours, which only the name betrays.
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
  /** Whether callers must identify themselves at present. */
  mustLogIn(): Promise<boolean>;
}

export class HostNames {
  readonly #options: HostNamesOptions;
  #lists: Lists | undefined;
  #lastServed: string | undefined;

  constructor(options: HostNamesOptions) {
    this.#options = options;
  }

  /** undefined for a request that may be served, else a promise of the Problem 403, which is undefined if it may. */
  check(request: IncomingMessage): Promise<Problem | undefined> | undefined {
    const fault = this.#faultOf(request);
    if (fault === undefined) return undefined;
    return this.#options.mustLogIn().then(must => (must ? undefined : new Problem(403, fault)));
  }

  /** What stands for the client of a request, whatever trusted proxies it came through. */
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

  /** The first name by which the request comes and that is not served. */
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
      allowed: new Set(texts(hosts).map(nameOf)),
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

/** Without port, brackets and the dot of the root; blank for what is neither name nor address. */
function nameOf(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(host.trim().toLowerCase()) ?? [];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? bracketed : '';
  const name = plain.replace(/\.$/, '');
  return NAME.test(name) ? name : '';
}

function isOwn(name: string): boolean {
  return !name.includes('.') || isIP(name) !== 0 || OWN_DOMAINS.some(domain => name.endsWith(`.${domain}`));
}

/** undefined for the opaque origin `null`, and for what is no page of a host, such as an extension of the browser. */
function hostOf(origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url.host : undefined;
}

function quoted(name: string): string {
  return `'${name.slice(0, 100)}'`;
}
