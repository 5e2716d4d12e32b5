// Requests of a command to the running host: they use its address, the login for that address and a deadline, and fail
// with errors that say what to do.
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import type { HostClient, LoginTokens, RequestDeadline } from '../contract/command.ts';
import { errorText } from '../kit/error-text.ts';
import { hostAnswer } from '../kit/host-answer.ts';
import { isObject } from '../kit/plain-object.ts';
import { Logins } from './logins.ts';

const TIMEOUT_MS = 30_000;
/** For the look whether an address is the gateway's, which only makes an error clearer. */
const LOOK_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const NEEDS_LOGIN =
  'the service requires a login; run stackwarden login, or set STACKWARDEN_TOKEN to the access_token that POST /auth/login answers';
const OLD_TOKEN = 'the token in STACKWARDEN_TOKEN is not accepted; POST /auth/login answers a new one';
const NO_TOKEN =
  'STACKWARDEN_TOKEN holds characters that no token has; set it to the access_token that POST /auth/login answers, alone';
const OLD_LOGIN = 'the login is not accepted any more; run stackwarden login again';

/** What a header can hold of a token. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** Thrown when nothing answers at the address, or not in time. */
export class Unreachable extends Error {}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

type Query = Readonly<Record<string, string | undefined>>;

/** `findUrl` is called at the first request. */
export function createHostClient(findUrl: () => Promise<string>, env: NodeJS.ProcessEnv): HostClient {
  return new Client(findUrl, env.STACKWARDEN_TOKEN?.trim() || undefined, new Logins(env));
}

class Client implements HostClient {
  readonly #findUrl: () => Promise<string>;
  readonly #token: string | undefined;
  readonly #logins: Logins;
  #url: Promise<string> | undefined;
  /** The renewal of the access token in progress, for all requests that need it; a long command needs several. */
  #renewal: Promise<string> | undefined;

  constructor(findUrl: () => Promise<string>, token: string | undefined, logins: Logins) {
    this.#findUrl = findUrl;
    this.#token = token;
    this.#logins = logins;
  }

  url(): Promise<string> {
    this.#url ??= this.#findUrl();
    return this.#url;
  }

  async get(path: string, query?: Query): Promise<unknown> {
    return this.#accepted(await this.#ask('GET', withQuery(path, query)), path);
  }

  async find(path: string, query?: Query): Promise<unknown> {
    const answer = await this.#ask('GET', withQuery(path, query));
    return isAbsent(answer) ? undefined : this.#accepted(answer, path);
  }

  async post(path: string, body: unknown, options?: RequestDeadline): Promise<unknown> {
    return this.#accepted(await this.#ask('POST', path, body, options), path);
  }

  async keepLogin(tokens: LoginTokens | null): Promise<void> {
    await this.#logins.keep(await this.url(), tokens);
  }

  async #accepted(answer: Answer, path: string): Promise<unknown> {
    if (answer.status >= 200 && answer.status < 300 && answer.body !== undefined) return answer.body;
    await refuseElsewhere(answer, { url: await this.url(), path });
    throw new Error(detailOf(answer) ?? `what answers is no Stackwarden (HTTP ${answer.status}); look at the address`);
  }

  async #ask(method: string, path: string, body?: unknown, options?: RequestDeadline): Promise<Answer> {
    const url = await this.url();
    const kept = this.#token === undefined ? await this.#logins.of(url) : undefined;
    const token = this.#token ?? kept?.access_token;
    if (this.#token !== undefined && !SENDABLE.test(this.#token)) throw new Error(NO_TOKEN);
    const answer = await exchange(url + path, { method, body, token, ...options });
    if (answer.status !== 401 || path.startsWith('/auth/')) return answer;
    if (this.#token !== undefined) throw new Error(OLD_TOKEN);
    if (kept === undefined) throw new Error(NEEDS_LOGIN);
    this.#renewal ??= this.#renew(url, kept).finally(() => {
      this.#renewal = undefined;
    });
    const again = await exchange(url + path, { method, body, token: await this.#renewal, ...options });
    if (again.status === 401) throw new Error(OLD_LOGIN);
    return again;
  }

  /** Gets a new access token, which lasts for an hour, by the refresh token, which lasts for weeks. */
  async #renew(url: string, { refresh_token }: LoginTokens): Promise<string> {
    const path = '/auth/refresh';
    const answer = await exchange(url + path, { method: 'POST', body: { refresh_token }, token: undefined });
    if (answer.status === 401) throw new Error(OLD_LOGIN);
    const tokens = hostAnswer<LoginTokens>(await this.#accepted(answer, path), { access_token: '', refresh_token: '' });
    await this.#logins.keep(url, tokens);
    return tokens.access_token;
  }
}

interface Exchange extends RequestDeadline {
  readonly method: string;
  readonly body: unknown;
  readonly token: string | undefined;
}

/** Sends one request, with `token` alone. Rejects with an Unreachable when nothing answers in time. */
export async function exchange(
  url: string,
  { method, body, token, timeoutMs = TIMEOUT_MS }: Exchange,
): Promise<Answer> {
  const base = new URL(url).origin;
  const request = url.startsWith('https:') ? (await import('node:https')).request : requestHttp;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    accept: 'application/json',
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const message = await answered(request(url, { method, headers, signal, agent: false }), text);
    return { status: message.statusCode ?? 0, body: parsed(await textOf(message)) };
  } catch (cause) {
    if (cause instanceof TooLarge) throw cause;
    if (signal.aborted) throw new Unreachable(`${base} has not answered within ${timeoutMs / 1_000} s`, { cause });
    const reason = (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? '' : ` (${errorText(cause)})`;
    const remedy = 'start Stackwarden, or name one that runs by --url';
    throw new Unreachable(`nothing answers at ${base}${reason}; ${remedy}`, { cause });
  }
}

function answered(request: ClientRequest, text: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject).end(text);
  });
}

class TooLarge extends Error {}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw new TooLarge(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The answer is not from a host; callers notice it by the status or by the missing members.
    return undefined;
  }
}

export function detailOf({ body }: Answer): string | undefined {
  return isObject(body) && typeof body.detail === 'string' ? body.detail : undefined;
}

/** Whether the host has no route for the path. Any other 404 is about a process or a file that it does not know. */
function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && detailOf(answer) === 'Not found';
}

/**
 * Throws an Error when the host has no route for the path, or when the address is the gateway's, which answers with
 * pages in place of the API.
 */
export async function refuseElsewhere(
  answer: Answer,
  { url, path }: { readonly url: string; readonly path: string },
): Promise<void> {
  const mayBePages = answer.status === 503 || detailOf(answer) === undefined || isAbsent(answer);
  if (mayBePages && (await isGateway(url))) {
    const { origin, pathname } = new URL(`${url}/api`);
    throw new Error(`the gateway answers at ${origin}, which has the API below /api; give --url ${origin}${pathname}`);
  }
  if (isAbsent(answer)) throw new Error(`the running host has no ${path}; load the plugin that answers it`);
}

/** Whether the body is one that the host answers at `/health`, whether it is well or not. */
export function isHealthAnswer(body: unknown): body is { readonly status: string; readonly details?: string } {
  return isObject(body) && (body.status === 'healthy' || body.status === 'unhealthy');
}

async function isGateway(url: string): Promise<boolean> {
  const asked = { method: 'GET', body: undefined, token: undefined, timeoutMs: LOOK_MS };
  const { body } = await exchange(`${url}/api/health`, asked).catch(() => ({ body: undefined }));
  return isHealthAnswer(body);
}

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
