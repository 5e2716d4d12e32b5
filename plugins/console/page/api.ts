// Sends requests to the host with the tokens of the login, and refreshes the tokens when the host no longer accepts
// them. Tokens are kept in the session storage of the tab, but only in memory on a gateway, where web interfaces of
// services share the origin and could read them.
import { Listeners } from './listeners.ts';

const KEPT_AS = 'stackwarden.tokens';
const READ_MS = 30_000;
/** A start waits for what the service needs, and for installs. */
const ACT_MS = 900_000;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A request that failed; `message` is the host's own sentence, if it gave one. */
export class ApiError extends Error {
  /** 0 when there was no answer. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export class Api {
  /** Where the routes are, ending in a slash. */
  readonly #routes: URL;
  #tokens: Tokens | undefined;
  #refreshing: Promise<boolean> | undefined;
  #entering: Promise<void> | undefined;
  /** Called when a login is needed. */
  readonly refused = new Listeners();

  constructor(routes: URL) {
    this.#routes = routes;
    this.#tokens = this.isNative ? readKept() : undefined;
  }

  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** Whether this page came from the native listener, which has pages that a gateway does not have. */
  get isNative(): boolean {
    return !this.#routes.pathname.endsWith('/api/');
  }

  addressOf(path: string): string {
    return new URL(path, this.#routes).href;
  }

  /** The URL of a stream. On a gateway, streams are not below the prefix of the routes. */
  streamAddress(path: string, query: Readonly<Record<string, string>>): string {
    const url = new URL(this.#routes);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.pathname = url.pathname.replace(/api\/$/, '') + path;
    const token = this.#tokens?.access_token;
    url.search = new URLSearchParams({ ...query, ...(token === undefined ? {} : { token }) }).toString();
    return url.href;
  }

  get<Body>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Body> {
    const search = new URLSearchParams(query).toString();
    return this.#ask<Body>(search === '' ? path : `${path}?${search}`, { method: 'GET' }, READ_MS);
  }

  post<Body>(path: string, body?: unknown): Promise<Body> {
    return this.#ask<Body>(path, requestOf(body), ACT_MS);
  }

  /** The answer of a route; undefined when no plugin has the route. */
  async find<Body>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Body | undefined> {
    try {
      return await this.get<Body>(path, query);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  logIn(username: string, password: string): Promise<void> {
    return this.#enter('auth/login', { username, password });
  }

  /** Creates the first account, after which every user must log in, and logs in with it. */
  setUp(username: string, password: string): Promise<void> {
    return this.#enter('auth/setup', { username, password });
  }

  logOut(): void {
    this.#keep(undefined);
    this.refused.tell();
  }

  /**
   * Refreshes the tokens. Gives whether there are new ones; rejects with an ApiError when the host neither gave nor
   * refused them. Calls during a refresh share its outcome.
   */
  refresh(): Promise<boolean> {
    this.#refreshing ??= this.#exchange().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  #enter(path: string, credentials: { readonly username: string; readonly password: string }): Promise<void> {
    const tokens = this.#send<Tokens>(path, requestOf(credentials), READ_MS);
    this.#entering = tokens.then(given => this.#keep(given));
    return this.#entering;
  }

  async #exchange(): Promise<boolean> {
    const old = this.#tokens;
    // A login that is under way shows its own failure.
    await this.#entering?.catch(() => undefined);
    if (this.#tokens !== old) return this.hasTokens;
    try {
      if (old !== undefined) {
        const body = requestOf({ refresh_token: old.refresh_token });
        const tokens = await this.#send<Tokens>('auth/refresh', body, READ_MS);
        // The user may have logged out or in meanwhile.
        if (this.#tokens === old) this.#keep(tokens);
        return this.hasTokens;
      }
    } catch (error) {
      // The tokens may still be valid.
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      if (this.#tokens !== old) return this.hasTokens;
    }
    this.#keep(undefined);
    this.refused.tell();
    return false;
  }

  async #ask<Body>(path: string, request: RequestInit, deadlineMs: number): Promise<Body> {
    try {
      return await this.#send<Body>(path, request, deadlineMs);
    } catch (error) {
      const isExpired = error instanceof ApiError && error.status === 401;
      if (!isExpired || !(await this.refresh())) throw error;
      return this.#send<Body>(path, request, deadlineMs);
    }
  }

  async #send<Body>(path: string, request: RequestInit, deadlineMs: number): Promise<Body> {
    const headers = new Headers(request.headers);
    if (this.#tokens !== undefined) headers.set('authorization', `Bearer ${this.#tokens.access_token}`);
    const signal = AbortSignal.timeout(deadlineMs);
    let answer: Response;
    let body: unknown;
    try {
      answer = await fetch(new URL(path, this.#routes), { ...request, headers, signal, cache: 'no-store' });
      body = await answer.json();
    } catch (cause) {
      throw new ApiError(0, 'The host does not answer', { cause });
    }
    if (!answer.ok) throw new ApiError(answer.status, sentenceOf(body) ?? `The host answered ${answer.status}`);
    return body as Body;
  }

  #keep(tokens: Tokens | undefined): void {
    this.#tokens = tokens;
    if (!this.isNative) return;
    if (tokens === undefined) sessionStorage.removeItem(KEPT_AS);
    else sessionStorage.setItem(KEPT_AS, JSON.stringify(tokens));
  }
}

function requestOf(body: unknown): RequestInit {
  if (body === undefined) return { method: 'POST' };
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function sentenceOf(body: unknown): string | undefined {
  const { detail } = (body ?? {}) as { detail?: unknown };
  return typeof detail === 'string' ? detail : undefined;
}

function readKept(): Tokens | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(KEPT_AS) ?? 'null') as Tokens | null) ?? undefined;
  } catch {
    // Another script has written to the storage, so the user logs in again.
    return undefined;
  }
}
