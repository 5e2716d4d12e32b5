// Which web origins besides its own may call the API: `dumb.frontend.origins`, never the wildcard.
import type { IncomingMessage } from 'node:http';

const DEFAULT_ORIGINS: readonly string[] = ['http://localhost', 'http://localhost:8000'];
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export class CorsPolicy {
  readonly #config: () => Readonly<Record<string, unknown>>;
  #root: unknown;
  #allowed: ReadonlySet<string> = new Set(DEFAULT_ORIGINS);

  constructor(config: () => Readonly<Record<string, unknown>>) {
    this.#config = config;
  }

  allows(origin: string): boolean {
    const root = this.#config();
    if (root !== this.#root) {
      this.#root = root;
      this.#allowed = new Set(configured(root));
    }
    return this.#allowed.has(origin);
  }

  /** A page of a foreign site acting through the browser of a user. */
  isForeign(request: IncomingMessage): boolean {
    if (request.headers['sec-fetch-site'] !== 'cross-site') return false;
    const { origin } = request.headers;
    return origin === undefined || !this.allows(origin);
  }
}

/** Methods that change nothing. */
export function isSafe(method: string | undefined): boolean {
  return SAFE_METHODS.has(method ?? '');
}

function configured(root: Readonly<Record<string, unknown>>): readonly string[] {
  const origins = member(member(member(root, 'dumb'), 'frontend'), 'origins');
  if (!Array.isArray(origins)) return DEFAULT_ORIGINS;
  const texts = origins
    .filter(origin => typeof origin === 'string' && origin !== '*')
    .map(text => text.replace(/\/$/, ''));
  return texts.length > 0 ? texts : DEFAULT_ORIGINS;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
