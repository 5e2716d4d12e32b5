// The contract of destinations of notifications: what a destination reads from URLs, and what it sends over a real
// socket. No fault of a service may make it wait too long, follow a redirect, or reveal a secret.
import { createHook } from 'node:async_hooks';
import type { Test } from 'tap';
import { Problem } from '../../core/contract/problem.ts';
import { createFetcher } from '../../core/host/fetch.ts';
import { attempt } from '../../plugins/notifications/attempt.ts';
import type { DeliveryOutcome, NotificationDestination } from '../../plugins/notifications/contract.ts';
import { readUrl } from '../../plugins/notifications/destination-url.ts';
import type { MessageFacts } from '../../plugins/notifications/message-text.ts';
import { differences, type ExpectedRequest, type Sent } from './expected-request.ts';
import { type Answers, openReceiver, type Receiver, type Reply, type SocketFault } from './receiver.ts';

export interface DestinationCase {
  readonly url: string;
  readonly sends: ExpectedRequest | readonly ExpectedRequest[];
  /**
   * Default: a critical message with the title `Title` and the body `Body`. Members here replace those of the default.
   */
  readonly message?: Partial<MessageFacts>;
}

export interface RefusedUrl {
  readonly url: string;
  readonly message: RegExp;
}

export interface RefusingReply extends Reply {
  readonly error: RegExp;
  readonly retryAfterSec?: number;
}

export interface DestinationTable {
  readonly cases: readonly DestinationCase[];
  readonly refused: readonly RefusedUrl[];
  /** Web addresses that belong to other services. */
  readonly foreign?: readonly string[];
  /** Answers by which the service accepts; the first is its usual answer. */
  readonly accepts: readonly [Answers, ...Answers[]];
  /** Answers by which the service refuses, or asks for a pause. */
  readonly refuses: readonly RefusingReply[];
  /** A URL with all parts that the scheme knows, and those of its parts that are secret. */
  readonly secret: { readonly url: string; readonly parts: readonly string[] };
}

const MESSAGE: MessageFacts = {
  deliveryId: 'delivery-1',
  eventId: 'event-1',
  eventType: 'manual',
  severity: 'critical',
  title: 'Title',
  body: 'Body',
  serviceName: null,
  timestamp: 1_784_300_000.5,
  attempt: 1,
  metadata: {},
};
const NETWORK = /^(?:TCP|TLS|UDP|PIPE|GETADDRINFO|GETNAMEINFO|QUERY|HTTP|PROCESS)/;
const RUNS = 300;
/** Shorter texts can be ordinary words of sentences. */
const SURE_LENGTH = 8;

/** Runs all tests of the contract. */
export function holdDestination(t: Test, destination: NotificationDestination, table: DestinationTable): void {
  holdUrls(t, destination, { urls: table.cases.map(({ url }) => url), refused: table.refused });

  t.test('what it sends', async t => {
    for (const { url, sends, message } of table.cases) {
      const { outcome, requests } = await deliver(destination, url, table.accepts[0], { message });
      t.same(outcome, { ok: true }, url);
      const expected = [sends].flat();
      t.same(
        requests.map(({ to }) => to),
        expected.map(({ to }) => to),
        url,
      );
      for (const [index, wanted] of expected.entries()) {
        const request = requests[index];
        if (request !== undefined) t.same(differences(request, wanted), [], `${url}: request ${index + 1}`);
      }
    }
    for (const url of table.foreign ?? []) t.notOk(destination.native?.(new URL(url)), `${url} is not its own`);
  });

  t.test('faults of the service', async t => {
    const { url, parts } = table.secret;
    const quick = `${url}${url.includes('?') ? '&' : '?'}cto=1&rto=1`;
    const withTls = { tls: true };
    const told: string[] = [];
    const fails = async (what: string, answers: Answers | SocketFault, error: RegExp, more: DeliverOptions = {}) => {
      const { outcome, requests } = await deliver(destination, answers === 'hang' ? quick : url, answers, more);
      t.match(outcome, { ok: false, error }, what);
      if (!outcome.ok) told.push(outcome.error);
      return { outcome, requests };
    };
    const secrets = (): Reply => ({
      status: 500,
      body: {
        error: Array(40)
          .fill([url, ...parts].join(' '))
          .join(' '),
      },
    });

    // These run at once, because one of them waits for a deadline.
    await Promise.all([
      fails('no answer', 'hang', /did not answer in time/),
      fails('a reset', 'reset', /closed the connection/),
      fails('an unknown certificate', table.accepts[0], /certificate of the service is not trusted/, withTls),
      fails('its secrets', secrets(), /^HTTP 500: /),
      fails(
        'what it was asked',
        ({ path, headers, body }) => ({ status: 400, body: [path, headers, body] }),
        /^HTTP 400/,
      ),
      fails('a page', { status: 404, body: '<html>' }, /^HTTP 404$/),
      fails(
        'a redirect',
        { status: 302, headers: { location: '/elsewhere' } },
        /^HTTP 302: the service redirects/,
      ).then(({ requests }) =>
        t.equal(requests.filter(({ to }) => to.endsWith('/elsewhere')).length, 0, 'is not followed'),
      ),
      fails('too many requests', { status: 429, headers: { 'retry-after': '7' } }, /^HTTP 429/).then(({ outcome }) =>
        t.match(outcome, { retryAfterSec: 7 }, 'the pause that is asked for'),
      ),
      ...table.refuses.map(async ({ error, retryAfterSec, ...reply }) => {
        const { outcome } = await fails(JSON.stringify(reply), reply, error);
        if (retryAfterSec !== undefined) t.match(outcome, { retryAfterSec }, 'the pause that the service asks for');
      }),
      deliver(destination, url, 'endless').then(({ outcome }) =>
        t.type(outcome.ok, 'boolean', 'an answer without end is not read to its end'),
      ),
      ...table.accepts.map(async answers =>
        t.same((await deliver(destination, url, answers)).outcome, { ok: true }, 'its own words for success'),
      ),
      deliver(destination, url, table.accepts[0], { tls: true, verifyTls: false }).then(({ outcome }) =>
        t.same(outcome, { ok: true }, 'a certificate that need not be trusted'),
      ),
    ]);
    for (const part of [url, ...parts])
      for (const error of told) t.notOk(error.includes(part), `no secret in: ${error}`);
  });
}

/** Runs the tests of the contract about URLs alone, for destinations that do not send over HTTP. */
export function holdUrls(
  t: Test,
  destination: NotificationDestination,
  { urls, refused }: { readonly urls: readonly string[]; readonly refused: readonly RefusedUrl[] },
): void {
  const parse = (url: string): unknown => destination.parse(readUrl(url, destination.schemes));

  t.test('URLs', async t => {
    t.ok(destination.schemes.includes(destination.example.split(':', 1)[0] ?? ''), 'its example has its scheme');
    for (const url of urls) {
      const isWeb = /^https?:/i.test(url);
      if (isWeb) t.ok(destination.native?.(new URL(url)), `${url} is its own`);
      else t.ok(destination.schemes.includes(url.slice(0, url.indexOf(':')).toLowerCase()), `${url} has its scheme`);
      t.doesNotThrow(() => parse(url), url);
    }
    for (const { url, message } of refused) {
      t.throws(() => parse(url), { status: 400, message }, url);
    }
  });

  t.test('any text is read, or refused with a sentence', async t => {
    const { default: fc } = await import('fast-check');
    const opened: string[] = [];
    const hook = createHook({ init: (_id, type) => void (NETWORK.test(type) && opened.push(type)) });
    const known = [...urls, ...refused.map(({ url }) => url), destination.example];
    const mark = fc.constantFrom(
      '%',
      '%2',
      '%00',
      '%ff',
      '@',
      ':',
      '/',
      '//',
      '#',
      '?',
      '&',
      '=',
      '[',
      ']',
      '\ud800',
      '\r\n',
      ' ',
    );
    // The unit `binary` of fast-check takes a second to build.
    const anyCharacter = fc
      .oneof(fc.nat(0xd7_ff), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
      .map(code => String.fromCodePoint(code));
    const changed = fc
      .tuple(fc.constantFrom(...known), fc.nat(120), fc.nat(20), fc.oneof(mark, fc.string({ unit: anyCharacter })))
      .map(([url, at, length, text]) => {
        const from = Math.max(url.indexOf('://') + 3, at % (url.length + 1));
        return url.slice(0, from) + text + url.slice(from + length);
      });
    const made = fc
      .tuple(fc.constantFrom(...destination.schemes), fc.array(fc.oneof(mark, fc.string({ unit: anyCharacter }))))
      .map(([scheme, parts]) => `${scheme}://${parts.join('')}`);
    hook.enable();
    const property = fc.property(fc.oneof(changed, made), url => {
      try {
        return !(parse(url) instanceof Promise);
      } catch (error) {
        const secret = url.slice(url.indexOf('://') + 3);
        const isSecret = secret.length >= SURE_LENGTH && !destination.example.includes(secret.trim());
        const tells = isSecret && (error as Error).message.includes(secret);
        return error instanceof Problem && error.status === 400 && !tells;
      }
    });
    const { failed, counterexample, errorInstance } = fc.check(property, { numRuns: RUNS });
    hook.disable();
    t.notOk(failed, JSON.stringify([counterexample, String(errorInstance)]));
    t.same(opened, [], 'nothing was opened');
  });
}

export interface DeliverOptions {
  readonly tls?: boolean;
  readonly verifyTls?: boolean;
  readonly message?: Partial<MessageFacts> | undefined;
}

/** Makes one attempt. All requests arrive at a receiver, whatever their address, and are returned as `requests`. */
export async function deliver(
  destination: NotificationDestination,
  url: string,
  answers: Answers | SocketFault,
  { tls = false, verifyTls = true, message = {} }: DeliverOptions = {},
): Promise<{ outcome: DeliveryOutcome; requests: Sent[] }> {
  const receiver: Receiver = await openReceiver(answers, { tls });
  const fetcher = createFetcher(new AbortController().signal, 'Stackwarden/contract');
  const asked: string[] = [];
  const access = {
    userAgent: 'Stackwarden/contract',
    fetch: (address: string, options: Parameters<typeof fetcher.fetch>[1] & { stream: true }) => {
      const { pathname, search } = new URL(address);
      asked.push(`${options.method} ${address}`);
      return fetcher.fetch(receiver.base + pathname + search, options);
    },
  };
  try {
    const facts = { ...MESSAGE, ...message };
    const outcome = await attempt(destination, readUrl(url, destination.schemes), facts, access, { verifyTls });
    return { outcome, requests: receiver.received.map((request, index) => ({ ...request, to: asked[index] ?? '' })) };
  } finally {
    await fetcher.close();
    await receiver.close();
  }
}
