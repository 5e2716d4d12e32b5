// Outgoing HTTP for plugins, on undici: bounded in time, size and redirects. Bodies are never decompressed.
import type { Dispatcher } from 'undici';
import type { FetchAnswer, FetchOptions, FetchStream } from '../contract/fetch.ts';
import { membersOf, refuseMisspelt } from '../kit/checked-argument.ts';
import { errorText } from '../kit/error-text.ts';
import { refuseCostlyJson } from '../kit/nesting.ts';
import { plainData } from '../kit/plain-data.ts';
import { LARGE_TEXT_BYTES, readText } from '../kit/text-thread.ts';
import { HttpAgents } from './http-agents.ts';
import { loadHttpClient } from './http-client.ts';
import { limitTime, type TimeLimit } from './time-limit.ts';

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 10 * 1024 * 1024;
const REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** The headers that another origin gets after a redirect. Any other header may be a credential, whatever its name. */
const HARMLESS_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'range',
  'user-agent',
]);

const MEMBERS = membersOf<FetchOptions>({
  method: true,
  headers: true,
  json: true,
  body: true,
  signal: true,
  isAwaitedByDisposer: true,
  timeoutMs: true,
  idleTimeoutMs: true,
  maxBytes: true,
  redirects: true,
  connectTimeoutMs: true,
  verifyTls: true,
  keepAlive: true,
  addresses: true,
  proxied: true,
  stream: true,
});

type Body = Dispatcher.ResponseData['body'];

export interface Fetcher {
  fetch(url: string, options: FetchOptions & { stream: true }): Promise<FetchStream>;
  fetch(url: string, options?: FetchOptions): Promise<FetchAnswer>;
  close(): Promise<void>;
}

/** Requests end when `owner` aborts, except those with `isAwaitedByDisposer`; `close` ends all of them. */
export function createFetcher(owner: AbortSignal, userAgent: string): Fetcher {
  const agents = new HttpAgents();

  const send = async (url: string, options: FetchOptions, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
    // undici is loaded at the first request, because it would be a tenth of the time and memory of a start.
    const client = await loadHttpClient();
    const { redirect, request } = client;
    const isPinned = options.addresses !== undefined;
    const agent = agents.agentFor(client, options);
    const json = options.json === undefined ? undefined : JSON.stringify(options.json);
    const maxRedirections = isPinned ? 0 : (options.redirects ?? REDIRECTS);
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
      reset: options.keepAlive === false || isPinned,
    }).finally(() => {
      // No other request uses this agent. It closes once the answer has been read.
      if (isPinned) void agent.close();
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
    fetch: (async (url: string, options: FetchOptions = {}) => {
      refuseMisspelt(Object.keys(options), MEMBERS, 'the request');
      return options.stream === true ? fetchStream(url, options) : fetchText(url, options);
    }) as Fetcher['fetch'],
    close: () => agents.close(),
  };
}

/** Sends only harmless headers to other origins to which a redirect leads. */
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

/** Limits each wait for the next chunk, and also the time until the caller begins to read. */
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
 * The function `json` of an answer. It is synchronous, so a large text is parsed beforehand, in a thread. A compressed
 * body is refused, because compression was not requested and the decompressed size would be unknown.
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

/** Whether the text is worth parsing. Servers send JSON with many content types, so its first character counts too. */
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
