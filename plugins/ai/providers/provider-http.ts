// The only way for adapters to reach their services: requests go to the origin of the target, get the key here, and
// have limits of time and size.
import { type FetchAnswer, type Host, Problem } from '#core';
import type { KeyHeader, ProviderHttp, ProviderTarget, RequestHeaders } from '../contract.ts';
import { parsedText } from './answer-text.ts';
import { networkFault, reasonOf, statusFault } from './provider-fault.ts';
import type { TargetAddresses } from './target-address.ts';

const CONNECT_MS = 10_000;
const GRACE_MS = 1_000;
const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/** What belongs to a target and is hidden from the adapter. */
export interface CallSecrets {
  readonly key: string;
  readonly maxBytes: number;
  /** When the whole call has to end, in the clock of `performance.now`. */
  readonly untilMs: number;
  readonly isManaged: boolean;
}

interface SentRequest {
  readonly method: string;
  readonly body?: unknown;
  readonly headers?: RequestHeaders | undefined;
}

export class ProviderHttpClient implements ProviderHttp {
  readonly #host: Pick<Host, 'fetch'>;
  readonly #judge: (url: URL) => Promise<TargetAddresses>;
  readonly #calls = new WeakMap<ProviderTarget, CallSecrets>();

  /** `judge` gives the addresses to which a request may go. */
  constructor(host: Pick<Host, 'fetch'>, judge: (url: URL) => Promise<TargetAddresses>) {
    this.#host = host;
    this.#judge = judge;
  }

  /** Makes requests to the target possible. */
  open(target: ProviderTarget, secrets: CallSecrets): void {
    this.#calls.set(target, secrets);
  }

  getJson(target: ProviderTarget, path: string, headers?: RequestHeaders): Promise<unknown> {
    return this.#send(target, path, { method: 'GET', headers });
  }

  postJson(target: ProviderTarget, path: string, body: unknown, headers?: RequestHeaders): Promise<unknown> {
    return this.#send(target, path, { method: 'POST', body, headers });
  }

  async #send(target: ProviderTarget, path: string, sent: SentRequest): Promise<unknown> {
    const secrets = this.#calls.get(target);
    if (secrets === undefined) throw new Error('a request needs the target that the call was given');
    const url = resolved(target.baseUrl, path, secrets.isManaged);
    try {
      return await answeredValue(await this.#fetched(url, sent, target.signal, secrets), url, secrets.key);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (target.signal.aborted) throw target.signal.reason;
      if (/larger than \d+ bytes/.test((error as Error).message))
        throw new Problem(502, `${url.host} answered with more than ${Math.round(secrets.maxBytes / 2 ** 20)} MiB`);
      throw networkFault(error, url.host);
    }
  }

  async #fetched(
    url: URL,
    { method, body, headers = {} }: SentRequest,
    signal: AbortSignal,
    { key, maxBytes, untilMs, isManaged }: CallSecrets,
  ): Promise<FetchAnswer> {
    const isProxied = PROXY_VARIABLES.some(name => (process.env[name] ?? '') !== '');
    // A proxy resolves the fixed hosts of vendors itself, because names may not be resolvable here.
    const judged = isManaged && isProxied ? undefined : await this.#judge(url);
    // The signal of the target fires first, and its error says how long the call waited.
    const timeoutMs = Math.max(0, untilMs - performance.now()) + GRACE_MS;
    return this.#host.fetch(url.href, {
      method,
      ...(body === undefined ? {} : { json: body }),
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...headers.more,
        ...keyHeader(headers.key, key),
      },
      ...(judged === undefined ? {} : { addresses: judged.addresses }),
      proxied: isProxied && (judged?.isPublic ?? true),
      redirects: 0,
      timeoutMs,
      connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
      maxBytes,
      signal,
    });
  }
}

/** The value of a successful answer. Throws a Problem for any other. */
async function answeredValue(answer: FetchAnswer, url: URL, key: string): Promise<unknown> {
  const { status } = answer;
  if (status >= 300 && status < 400) throw redirectFault(status, answer.headers.location, url);
  if (status >= 200 && status < 300) return parsedText(answer);
  const value = await parsedText(answer).catch(() => undefined);
  throw statusFault(status, reasonOf(answer.text, value, key));
}

/**
 * Resolves a path below the base. Throws an Error for another origin, and for a place outside of the base's path unless
 * it is a whole URL of a custom target.
 */
function resolved(base: string, path: string, isManaged: boolean): URL {
  const from = new URL(`${base}/`);
  const isWhole = /^https?:\/\//i.test(path);
  const url = isWhole ? new URL(path) : new URL(path.replace(/^\/+/, ''), from);
  const isBelow = `${url.pathname}/`.startsWith(from.pathname);
  if (url.origin !== from.origin || !(isBelow || (isWhole && !isManaged)))
    throw new Error('an adapter asked for a place outside of its target');
  return url;
}

function keyHeader(header: KeyHeader | undefined, key: string): Record<string, string> {
  if (header === undefined || key === '') return {};
  const { style } = header;
  return style === 'bearer' ? { authorization: `Bearer ${key}` } : { [style.header.toLowerCase()]: key };
}

function redirectFault(status: number, location: string | string[] | undefined, from: URL): Problem {
  const text = String(location ?? '');
  const to = URL.canParse(text, from.href) ? ` to ${new URL(text, from).origin}` : '';
  return new Problem(
    502,
    `The AI provider redirects${to} (${status}), and redirects are not followed; enter the final address as base_url`,
  );
}
