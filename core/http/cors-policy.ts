// Tells which foreign web origins may call the API: those in `dumb.frontend.origins`, where a wildcard has no effect.
import type { IncomingMessage } from 'node:http';

const DEFAULT_ORIGINS: readonly string[] = ['http://localhost', 'http://localhost:8000'];
/** The message for pages of other sites. */
export const FOREIGN_SITE = 'Requests from other sites are not accepted; allow the site in dumb.frontend.origins';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export class CorsPolicy {
  readonly #config: () => Readonly<Record<string, unknown>>;
  #root: unknown;
  #allowed: ReadonlySet<string> = new Set(DEFAULT_ORIGINS);

  constructor(config: () => Readonly<Record<string, unknown>>) {
    this.#config = config;
  }

  /** Whether pages of this origin may call the API. */
  allows(origin: string): boolean {
    const root = this.#config();
    if (root !== this.#root) {
      this.#root = root;
      this.#allowed = new Set(readOrigins(root));
    }
    return this.#allowed.has(origin);
  }

  /** Whether a browser sends the request for a page of a foreign site that is not allowed. */
  isForeign(request: IncomingMessage): boolean {
    if (request.headers['sec-fetch-site'] !== 'cross-site') return false;
    const { origin } = request.headers;
    return origin === undefined || !this.allows(origin);
  }
}

/** Whether a request with this method changes nothing. */
export function isSafe(method: string | undefined): boolean {
  return SAFE_METHODS.has(method ?? '');
}

function readOrigins(root: Readonly<Record<string, unknown>>): readonly string[] {
  const origins = readMember(readMember(readMember(root, 'dumb'), 'frontend'), 'origins');
  if (!Array.isArray(origins)) return DEFAULT_ORIGINS;
  const texts = origins
    .filter(origin => typeof origin === 'string' && origin !== '*')
    .map(text => originIn(text) ?? text);
  return texts.length > 0 ? texts : DEFAULT_ORIGINS;
}

/**
 * The origin of an address as browsers send it: in small letters, without a path and without the usual port. undefined
 * for a text that is no address of a site.
 */
export function originIn(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { origin, protocol, host } = new URL(text);
  if (origin !== 'null') return origin;
  // Of an extension of a browser, whose addresses have a scheme of their own.
  return host === '' ? undefined : `${protocol}//${host}`;
}

function readMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
