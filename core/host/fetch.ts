// Outgoing HTTP for plugins, on undici: bounded in time, size and redirects. Bodies are never decompressed.
import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import type { Dispatcher } from 'undici';
import type { FetchAnswer, FetchOptions, FetchStream } from '../contract/fetch.ts';
import { follow } from '../kit/abort.ts';
import { MAX_TIMER_MS } from '../kit/deadline.ts';
import { errorText } from '../kit/error-text.ts';
import { refuseCostlyJson } from '../kit/nesting.ts';
import { plainData } from '../kit/plain-data.ts';
import { LARGE_TEXT_BYTES, readText } from '../kit/text-thread.ts';
import { loadHttpClient } from './http-client.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 10 * 1024 * 1024;
const REDIRECTS = 5;
/** Timeouts of undici are off, because one timer for each request limits every wait here. */
const LIMITS = { keepAliveTimeout: 10_000, headersTimeout: 0, bodyTimeout: 0 };
/** Of one plugin, each with its own connections; the oldest ends with its last request. */
const MAX_AGENTS = 8;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/**
 * What another origin may be told after a redirect. Everything else may be a credential, whose names nobody can list.
 */
const HARMLESS_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'range',
  'user-agent',
]);

type Body = Dispatcher.ResponseData['body'];

export interface Fetcher {
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;
  close(): Promise<void>;
}

/** Aborts the requests in flight when `owner` fires, but for those that a disposer waits for; `close` ends all. */
export function createFetcher(owner: AbortSignal, userAgent: string): Fetcher {
  const agents = new Map<string, Dispatcher>();

  const send = async (url: string, options: FetchOptions, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    // On first use, because it accounts for a tenth of the time and memory of a start.
    const { Agent, EnvHttpProxyAgent, redirect, request } = await loadHttpClient();
    const { connectTimeoutMs: timeout = TIMEOUT_MS, verifyTls: rejectUnauthorized = true, addresses } = options;
    const kind = `${timeout} ${rejectUnauthorized}${options.proxied === true ? ' proxied' : ''}`;
    const create = (): Dispatcher => {
      const lookup = addresses === undefined ? {} : { lookup: lookupAmong(addresses) };
      const settings = { connect: { timeout, rejectUnauthorized, ...lookup }, ...LIMITS };
      if (options.proxied !== true) return new Agent(settings);
      // Through a proxy there are two connections, of which none takes its settings from above.
      return new EnvHttpProxyAgent({ ...settings, proxyTls: { timeout }, requestTls: { rejectUnauthorized } });
    };
    const agent = addresses === undefined ? (agents.get(kind) ?? create()) : create();
    if (addresses === undefined) agents.set(kind, agent);
    const [oldest] = agents;
    if (agents.size > MAX_AGENTS && oldest !== undefined) {
      agents.delete(oldest[0]);
      void oldest[1].close();
    }
    const json = options.json === undefined ? undefined : JSON.stringify(options.json);
    const maxRedirections = addresses === undefined ? (options.redirects ?? REDIRECTS) : 0;
    const { origin, pathname, search } = new URL(url);
    const dispatcher = agent.compose(withholdElsewhere(origin), redirect({ maxRedirections }));
    const answer = await request(dispatcher, {
      origin,
      path: pathname + search,
      method: (options.method ?? 'GET') as 'GET',
      headers: {
        'user-agent': userAgent,
        'accept-encoding': 'identity',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: (json ?? options.body ?? null) as string | null,
      signal,
      reset: options.keepAlive === false || addresses !== undefined,
    }).finally(() => {
      // Closes once the answer is read, since nothing else will ask through it.
      if (addresses !== undefined) void agent.close();
    });
    // The iterator reports errors to a reader; without a reader an error must not become an uncaught exception.
    answer.body.on('error', () => undefined);
    const { statusCode, headers, body } = answer;
    const isFollowed = maxRedirections > 0 && !isIterable(options.body);
    if (isFollowed && REDIRECT_STATUSES.includes(statusCode) && headers.location !== undefined) {
      body.destroy();
      throw new Error(`${new URL(url).host} redirects more than ${maxRedirections} times`);
    }
    return answer;
  };

  const endsOf = ({ signal, isAwaitedByDisposer = false }: FetchOptions) =>
    isAwaitedByDisposer ? [signal] : [owner, signal];

  const fetchText = async (url: string, options: FetchOptions): Promise<FetchAnswer> => {
    const limit = limitTime(url, options.timeoutMs ?? TIMEOUT_MS, endsOf(options));
    try {
      const { statusCode, headers, body } = await send(url, options, limit.signal);
      const chunks: Buffer[] = [];
      for await (const chunk of bounded(body, options.maxBytes ?? MAX_BYTES)) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      return { status: statusCode, headers, text, json: await jsonOf(text, headers) };
    } catch (error) {
      throw limit.explain(error);
    } finally {
      limit.end();
    }
  };

  const fetchStream = async (url: string, options: FetchOptions): Promise<FetchStream> => {
    const silenceMs = options.idleTimeoutMs ?? TIMEOUT_MS;
    const limit = limitTime(url, options.timeoutMs ?? TIMEOUT_MS, endsOf(options));
    try {
      const { statusCode, headers, body } = await send(url, options, limit.signal);
      limit.restart(silenceMs);
      const chunks = readInTime(bounded(body, options.maxBytes ?? MAX_BYTES), limit, silenceMs);
      return { status: statusCode, headers, body: chunks };
    } catch (error) {
      limit.end();
      throw limit.explain(error);
    }
  };

  return {
    fetch: ((url: string, options: FetchOptions = {}) =>
      options.stream === true ? fetchStream(url, options) : fetchText(url, options)) as Fetcher['fetch'],
    close: async () => {
      await Promise.all([...agents.values()].map(agent => agent.destroy()));
    },
  };
}

/** Gives the same addresses for every name. */
function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_name, { all: wantsAll }, found) => {
    const [first] = all;
    if (first === undefined) found(new Error('there is no address to connect to'), '');
    else if (wantsAll === true) found(null, all);
    else found(null, first.address, first.family);
  };
}

/** Keeps the headers of a request from every origin but its own, wherever a redirect leads it. */
function withholdElsewhere(origin: string): Dispatcher.DispatcherComposeInterceptor {
  return dispatch => (options, handler) => {
    const isElsewhere = options.origin !== undefined && new URL(options.origin).origin !== origin;
    return dispatch(isElsewhere ? { ...options, headers: harmless(options.headers) } : options, handler);
  };
}

/** The redirecting interceptor gives headers as a flat list of names and values. */
function harmless(headers: Dispatcher.DispatchOptions['headers']): string[] {
  const kept: string[] = [];
  const list = Array.isArray(headers) ? headers : [];
  for (let index = 0; index < list.length; index += 2) {
    const [name = '', value = ''] = list.slice(index, index + 2);
    if (HARMLESS_HEADERS.has(String(name).toLowerCase())) kept.push(String(name), String(value));
  }
  return kept;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Starts the limit anew. */
  restart(ms: number): void;
  /** Suspends the limit while the reader processes what it has received. */
  pause(): void;
  end(): void;
  /** The error to throw in place of one that the limit caused. */
  explain(error: unknown): unknown;
}

function limitTime(url: string, firstMs: number, others: readonly (AbortSignal | undefined)[]): TimeLimit {
  const ended = new AbortController();
  const stopFollowing = follow(
    ended,
    others.filter(signal => signal !== undefined),
  );
  let timer: NodeJS.Timeout | undefined;
  let reason: Error | undefined;
  const limit: TimeLimit = {
    signal: ended.signal,
    restart(ms) {
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          reason = new DOMException(`${new URL(url).host} did not answer within ${ms} ms`, 'TimeoutError');
          stopFollowing();
          ended.abort(reason);
        },
        Math.min(ms, MAX_TIMER_MS),
      );
      timer.unref();
    },
    pause: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      stopFollowing();
    },
    explain: error => reason ?? error,
  };
  limit.restart(firstMs);
  return limit;
}

/** Limits each wait for the next chunk, and also the time until somebody begins to read. */
async function* readInTime(
  chunks: AsyncGenerator<Buffer>,
  limit: TimeLimit,
  silenceMs: number,
): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      limit.restart(silenceMs);
      const { value, done } = await chunks.next();
      limit.pause();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw limit.explain(error);
  } finally {
    limit.end();
    await chunks.return(undefined);
  }
}

async function* bounded(body: Body, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    yield chunk;
  }
}

function isIterable(body: FetchOptions['body']): boolean {
  return typeof body === 'object' && Symbol.asyncIterator in body;
}

/**
 * Gives the value of an answer. A large one is read before anybody asks for it, because that is done in a thread.
 * A compressed body is refused, because compression was not asked for and the decompressed size would be unknown.
 */
async function jsonOf(text: string, headers: FetchAnswer['headers']): Promise<() => unknown> {
  const encoding = String(headers['content-encoding'] ?? 'identity');
  const isLarge = text.length > LARGE_TEXT_BYTES;
  const read = async () => (mayBeJson(text, headers) ? readText(import.meta.url, parseAnswer, text) : refuseText());
  const value = isLarge && encoding === 'identity' ? await read().then(given, failed) : () => parseAnswer(text);
  return () => {
    if (encoding !== 'identity') {
      throw new Error(`the answer is compressed (${encoding}) though none was asked for`);
    }
    try {
      return value();
    } catch (error) {
      throw new Error(`the answer cannot be read as JSON: ${errorText(error)}`, { cause: error });
    }
  };
}

/** Servers call JSON many things. */
function mayBeJson(text: string, headers: FetchAnswer['headers']): boolean {
  return /\bjson\b/i.test(String(headers['content-type']).slice(0, 100)) || /^[[{]/.test(text.trimStart());
}

function refuseText(): never {
  throw new Error('it is neither an object nor a list');
}

const given = (value: unknown) => () => value;
const failed = (error: unknown) => () => {
  throw error;
};

/**
 * The value of the JSON, whose objects have no prototype.
 *
 * @public The thread for large texts calls it by its name.
 */
export function parseAnswer(text: string): unknown {
  refuseCostlyJson(text);
  return plainData(JSON.parse(text));
}
