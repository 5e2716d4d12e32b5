// The contract of providers of models: what a provider sends over a real socket, and what it reads from answers. No
// fault of a service may make it wait too long, follow a redirect, or reveal a key.
import type { Test } from 'tap';
import type { Host } from '../../core/contract/host.ts';
import { Problem } from '../../core/contract/problem.ts';
import { createFetcher } from '../../core/host/fetch.ts';
import type { AiProvider, ChatMessage } from '../../plugins/ai/contract.ts';
import { ChatCompletionsClient } from '../../plugins/ai/providers/chat-completions.ts';
import { ModelSources } from '../../plugins/ai/providers/model-source.ts';
import { Models } from '../../plugins/ai/providers/models.ts';
import { type CallRecord, ProviderCalls } from '../../plugins/ai/providers/provider-calls.ts';
import { ProviderHttpClient } from '../../plugins/ai/providers/provider-http.ts';
import { DEFAULT_RECORD } from '../../plugins/ai/providers/provider-record.ts';
import { Providers } from '../../plugins/ai/providers/providers.ts';
import { requestBase } from '../../plugins/ai/providers/target-url.ts';
import { differences, type ExpectedRequest, type Sent } from './expected-request.ts';
import { type Answers, openReceiver, type Reply, type SocketFault } from './receiver.ts';

export interface ChatCase {
  /** Members of the record that differ from those of the table. */
  readonly record?: Partial<CallRecord>;
  readonly sends: ExpectedRequest;
  readonly answers: Answers;
  readonly text: string;
  readonly usage?: Readonly<Record<string, unknown>>;
}

export interface ModelsCase {
  readonly record?: Partial<CallRecord>;
  readonly sends: ExpectedRequest | readonly ExpectedRequest[];
  readonly answers: Answers;
  readonly models: readonly object[];
}

export interface ProviderTable {
  /** A record with all that a request needs. */
  readonly record: Partial<CallRecord>;
  /**
   * Addresses as people paste them, and the base of the requests that follow. Needed for an endpoint that is `custom`;
   * one that is `managed` has none.
   */
  readonly bases?: readonly { readonly stored: string; readonly base: string }[];
  /** Addresses that are refused before anything is asked. */
  readonly refusedBases?: readonly string[];
  /** The first case is the usual one; all of them send `MESSAGES`. */
  readonly chats: readonly [ChatCase, ...ChatCase[]];
  readonly models: readonly ModelsCase[];
  /** Answers without text, and the reason that the provider gives for each. */
  readonly silent: readonly { readonly body: unknown; readonly reason: RegExp }[];
  /** Answers by which the service refuses, and the error of each. */
  readonly refuses?: readonly (Reply & { readonly error: RegExp })[];
  /** Models that have ended or cannot answer in text; the provider must not send a request for them. */
  readonly refusedModels?: readonly { readonly model: string; readonly error: RegExp }[];
}

/** The messages of each chat in the contract. */
export const MESSAGES: readonly ChatMessage[] = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: 'One?' },
  { role: 'assistant', content: 'Two.' },
  { role: 'user', content: 'Three?' },
];
const MAX_OUTPUT_TOKENS = 777;
const KEY = 'k3y-that-nobody-may-learn';
const SHORT_S = 0.3;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Runs all tests of the contract. */
export function holdProvider(t: Test, provider: AiProvider, table: ProviderTable): void {
  const { descriptor } = provider;
  const ask = (answers: Answers | SocketFault, record: Partial<CallRecord> = {}) =>
    asked(provider, answers, { ...table.record, ...record });

  t.test('addresses', async t => {
    for (const { stored, base } of table.bases ?? []) t.equal(requestBase(descriptor, stored), base, stored);
    for (const stored of table.refusedBases ?? [])
      t.throws(() => requestBase(descriptor, stored), { status: 400, message: /base_url/ }, stored);
    t.equal(
      descriptor.endpoint.mode === 'managed',
      table.bases === undefined,
      'the table has bases for a custom endpoint, and none for a managed one',
    );
  });

  t.test('what it asks and reads', async t => {
    for (const { record, sends, answers, text, usage } of table.chats) {
      const { result, error, requests } = await ask(answers, record);
      t.equal(error, undefined, sends.to);
      t.equal(result?.text, text);
      const counted = Object.keys(usage ?? {}).length > 0;
      if (usage !== undefined) t.same(result?.usage, counted ? { ...usage, provider: descriptor.value } : {});
      t.same(
        requests.map(({ to }) => to),
        [sends.to],
        'one request',
      );
      if (requests[0] !== undefined) t.same(differences(requests[0], sends), []);
      t.equal(requests[0]?.headers['content-type'], 'application/json');
      t.notOk(requests[0]?.to.includes(KEY), 'no key in an address');
    }
    for (const { record, sends, answers, models } of table.models) {
      const asked = { ...table.record, ...record };
      const { listed, error, requests } = await askedForModels(provider, withOddEntries(answers), asked);
      t.equal(error, undefined, 'models');
      t.match(listed, models);
      t.equal(listed?.length, models.length);
      const expected = [sends].flat();
      t.same(
        requests.map(({ to }) => to),
        expected.map(({ to }) => to),
      );
      for (const [index, wanted] of expected.entries()) {
        const request = requests[index];
        if (request !== undefined) t.same(differences(request, wanted), []);
      }
    }
  });

  t.test('faults of the service', async t => {
    const [{ answers: usual, text }] = table.chats;
    const told: string[] = [];
    const fails = async (
      what: string,
      answers: Answers | SocketFault,
      wanted: { readonly status: number; readonly message: RegExp },
      record: Partial<CallRecord> = {},
    ) => {
      const { error, requests } = await ask(answers, record);
      t.match(error, wanted, what);
      // With `hang` the short deadline may be over on a slow machine before the request is sent.
      t.ok(requests.length === 1 || answers === 'hang', `${what}: it is asked once`);
      told.push(error?.message ?? '');
      return requests;
    };
    const refused = (status: number): Reply => ({ status, body: { error: { message: `no ${KEY} no` } } });
    const json = usualReply(usual);

    await Promise.all([
      fails('a wrong key', refused(401), { status: 502, message: /^AI provider request failed \(401\): no / }),
      fails('a forbidden key', refused(403), { status: 502, message: /\(403\)/ }),
      fails('nothing there', refused(404), { status: 502, message: /\(404\)/ }),
      fails(
        'too many requests',
        { ...refused(429), headers: { 'retry-after': '0' } },
        { status: 502, message: /\(429\)/ },
      ),
      fails('its own fault', refused(500), { status: 502, message: /\(500\)/ }),
      fails(
        'a page as a fault',
        { status: 502, body: `<html><b>${'x'.repeat(500)}</b>` },
        { status: 502, message: /^AI provider request failed \(502\): x{200}$/ },
      ),
      fails('a page', { body: '<html>login</html>' }, { status: 502, message: /a page instead of JSON/ }),
      fails('bad JSON', { body: '{"choices": [' }, { status: 502, message: /cannot be read as JSON/ }),
      fails('more JSON than is read', { body: `[${'1,'.repeat(200_000)}1]` }, { status: 502, message: /more values/ }),
      fails('deep JSON', { body: '['.repeat(100_000) }, { status: 502, message: /cannot be read as JSON/ }),
      fails('a list', { body: [] }, { status: 502, message: /without text/ }),
      fails('null', { body: 'null' }, { status: 502, message: /without text/ }),
      fails('compressed', { headers: { 'content-encoding': 'br' }, body: 'x' }, { status: 502, message: /compressed/ }),
      fails('no answer', 'hang', { status: 504, message: /did not answer within/ }, { timeout_sec: SHORT_S }),
      fails('a reset', 'reset', { status: 502, message: /cannot be asked \(\w+\)/ }),
      fails('an answer that is cut off', 'cut', { status: 502, message: /cannot be asked \(\w+\)/ }),
      fails('no HTTP', 'no HTTP', { status: 502, message: /cannot be asked \(HTTPParserError\)/ }),
      fails('an answer without end', 'endless', { status: 502, message: /more than 8 MiB/ }),
      fails(
        'a redirect',
        { status: 307, headers: { location: `https://elsewhere.example/${KEY}` } },
        { status: 502, message: /redirects to https:\/\/elsewhere\.example \(307\)/ },
      ),
      ...table.silent.map(({ body, reason }) => fails('no text', { body }, { status: 502, message: reason })),
      ...(table.refuses ?? []).map(({ error, ...reply }) =>
        fails(JSON.stringify(reply), reply, { status: 502, message: error }),
      ),
      ask({ ...json, inPieces: true }).then(({ result }) => t.equal(result?.text, text, 'an answer in pieces')),
    ]);
    for (const message of told) t.notOk(message.includes(KEY), `no key in: ${message}`);
  });

  t.test('what is refused without asking', async t => {
    const [{ answers }] = table.chats;
    const refuses = async (record: Partial<CallRecord>, message: RegExp) => {
      const { error, requests } = await ask(answers, record);
      t.match(error, { status: 400, message });
      t.equal(requests.length, 0, 'nothing was asked');
    };
    await refuses({ model: '' }, /No model is configured/);
    if (descriptor.key === 'required') {
      await refuses({ api_key: '' }, /needs a key/);
      await refuses({ keyOrigin: 'https://elsewhere.example' }, /enter the key again for https:/);
    } else if (descriptor.key === 'optional') {
      const foreign = await ask(answers, { keyOrigin: 'https://elsewhere.example' });
      t.notOk(JSON.stringify(foreign.requests[0]?.headers).includes(KEY), 'a key of another address is not sent');
      const hinted = await ask({ status: 401 }, { keyOrigin: 'https://elsewhere.example' });
      t.match(hinted.error, { status: 502, message: /enter the key again for http/ });
    }
    for (const { model, error } of table.refusedModels ?? []) await refuses({ model }, error);
  });
}

function usualReply(answers: Answers): Reply {
  return typeof answers === 'function' ? answers({ method: 'POST', path: '', headers: {}, body: '' }) : answers;
}

/** Entries that servers may list beside models. */
const ODD_ENTRIES = [null, 5, [], {}, { id: {}, name: {}, model: {} }, { id: [], name: 7, model: null }];

function withOddEntries(answers: Answers): Answers {
  if (typeof answers === 'function') return request => withOdd(answers(request));
  return withOdd(answers);
}

function withOdd({ body, ...reply }: Reply): Reply {
  if (typeof body !== 'object' || body === null) return { ...reply, body };
  const lists = Object.entries(body).map(([key, list]) => [
    key,
    Array.isArray(list) ? [...ODD_ENTRIES, ...list] : list,
  ]);
  return { ...reply, body: Object.fromEntries(lists) };
}

interface Asked {
  readonly error: Problem | undefined;
  readonly requests: readonly Sent[];
}

/** Sends one chat. All requests arrive at a receiver, whatever their address, and are returned as `requests`. */
async function asked(provider: AiProvider, answers: Answers | SocketFault, record: Partial<CallRecord>) {
  const request = { messages: MESSAGES, maxOutputTokens: MAX_OUTPUT_TOKENS };
  const { value, ...rest } = await diverted(provider, answers, calls =>
    calls.chat(calls.readyForChat(recordOf(provider, record)), request, new AbortController().signal),
  );
  return { result: value, ...rest };
}

async function askedForModels(provider: AiProvider, answers: Answers, record: Partial<CallRecord>) {
  const { value, ...rest } = await diverted(provider, answers, calls =>
    calls.listModels(recordOf(provider, record), new AbortController().signal),
  );
  return { listed: value, ...rest };
}

function recordOf({ descriptor }: AiProvider, record: Partial<CallRecord>): CallRecord {
  return { ...DEFAULT_RECORD, provider: descriptor.value, api_key: KEY, keyOrigin: undefined, ...record };
}

async function diverted<Value>(
  provider: AiProvider,
  answers: Answers | SocketFault,
  ask: (calls: ProviderCalls) => Promise<Value>,
): Promise<Asked & { readonly value: Value | undefined }> {
  const receiver = await openReceiver(answers);
  const fetcher = createFetcher(new AbortController().signal, 'stackwarden/contract');
  const places: string[] = [];
  const row = { owner: 'contract', key: provider.descriptor.value, value: provider };
  const host = {
    name: 'ai',
    log: quiet,
    signal: new AbortController().signal,
    plugins: () => [],
    capability: () => undefined,
    point: () => [row],
    fetch: (address: string, options: Parameters<typeof fetcher.fetch>[1]) => {
      const { pathname, search } = new URL(address);
      places.push(`${options?.method} ${address}`);
      return fetcher.fetch(receiver.base + pathname + search, options);
    },
  } as unknown as Host;
  const http = new ProviderHttpClient(host, async () => ({ addresses: ['127.0.0.1'], isPublic: false }));
  const templatesDir = new URL('../../templates', import.meta.url).pathname;
  const calls = new ProviderCalls(host, {
    providers: new Providers(host),
    models: new Models(),
    http,
    completions: new ChatCompletionsClient(http, new ModelSources(templatesDir)),
  });
  let value: Value | undefined;
  let error: Problem | undefined;
  try {
    value = await ask(calls);
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown;
    error = thrown;
  } finally {
    await fetcher.close();
    await receiver.close();
  }
  return {
    value,
    error,
    requests: receiver.received.map((request, index) => ({ ...request, to: places[index] ?? '' })),
  };
}
