// Requests to the host, with the tokens of whoever has logged in, which are exchanged for new ones when the host no
// longer takes them. They are kept for this tab alone, and on a gateway, where web interfaces of services share the
// origin and could read them, for this page alone.
import { Listeners } from './listeners.ts';

const KEPT_AS = 'stackwarden.tokens';
const READ_MS = 30_000;
/** A start waits for what the service needs, and for installs. */
const ACT_MS = 900_000;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** An answer that is no success; `message` is the host's own sentence. */
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
  /** Told when the host wants credentials that nobody has. */
  readonly refused = new Listeners();

  constructor(routes: URL) {
    this.#routes = routes;
    this.#tokens = this.isNative ? readKept() : undefined;
  }

  get hasTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** Whether this page came from the native listener, which has pages that a gateway has not. */
  get isNative(): boolean {
    return !this.#routes.pathname.endsWith('/api/');
  }

  addressOf(path: string): string {
    return new URL(path, this.#routes).href;
  }

  /** Streams are beside the routes, not below the prefix of a gateway. */
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

  /** What a route answers; undefined where no plugin has it. */
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

  /** Creates the first account, from which on everybody must log in, and logs in with it. */
  setUp(username: string, password: string): Promise<void> {
    return this.#enter('auth/setup', { username, password });
  }

  logOut(): void {
    this.#keep(undefined);
    this.refused.tell();
  }

  /** Whether there are new tokens now. Whoever asks meanwhile gets the same answer. */
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
    // Whoever is logging in at present tells by himself when that fails.
    await this.#entering?.catch(() => undefined);
    if (this.#tokens !== old) return this.hasTokens;
    try {
      if (old !== undefined) {
        const body = requestOf({ refresh_token: old.refresh_token });
        const tokens = await this.#send<Tokens>('auth/refresh', body, READ_MS);
        // Somebody may have logged out or in meanwhile.
        if (this.#tokens === old) this.#keep(tokens);
        return this.hasTokens;
      }
    } catch (error) {
      // Without an answer the tokens may still be good.
      if (!(error instanceof ApiError) || error.status !== 401) return false;
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
    // Something else has written there: whoever uses the page logs in again.
    return undefined;
  }
}
