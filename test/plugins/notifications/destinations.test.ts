// A third party's destination takes URLs of its scheme, and sends over a real socket within the limits of an attempt.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { ContributionList } from '../../../core/contract/host.ts';
import { createFetcher } from '../../../core/host/fetch.ts';
import { errorText } from '../../../core/kit/error-text.ts';
import { attempt } from '../../../plugins/notifications/attempt.ts';
import type { NotificationDestination } from '../../../plugins/notifications/contract.ts';
import { readOptions, readUrl } from '../../../plugins/notifications/destination-url.ts';
import { findDestination } from '../../../plugins/notifications/destinations.ts';
import { messagesFor } from '../../../plugins/notifications/message-text.ts';
import { scrubber } from '../../../plugins/notifications/scrub.ts';
import { pluginNames } from '../../support/host.ts';
import { contributionOf } from '../../support/templates.ts';

const FACTS = {
  deliveryId: 'd1',
  eventId: 'e1',
  eventType: 'manual',
  severity: 'critical' as const,
  title: 'Title',
  body: 'Body',
  serviceName: null,
  timestamp: 1,
  attempt: 1,
  metadata: {},
};

/** The shortest possible destination. */
const bell: NotificationDestination<{ url: string }> = {
  schemes: ['bell', 'bells'],
  example: 'bell://host/token',
  parse: url => ({ url: `${url.base()}/ring/${url.segments[0]}` }),
  send: async ({ url }, { title, body, color }, delivery) =>
    delivery.outcome(await delivery.request(url, { json: { title, body, color } })),
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

t.test('an attempt to deliver a message', async t => {
  let answer: Answer = (_, response) => void response.end('ok');
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const owner = new AbortController();
  const fetcher = createFetcher(owner.signal, 'Stackwarden/test');
  t.teardown(() => fetcher.close());
  const access = { fetch: fetcher.fetch, userAgent: 'Stackwarden/test' };
  const ring = (query = '', more = {}) =>
    attempt(
      bell,
      readUrl(`bell://127.0.0.1:${port}/s3cr3t-token${query}`, bell.schemes),
      { ...FACTS, ...more },
      access,
    );

  await t.test('delivers the message', async t => {
    const seen: { url: string; type: string; agent: string; connection: string; body: string }[] = [];
    answer = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { 'content-type': type = '', 'user-agent': agent = '', connection = '' } = request.headers;
      seen.push({ url: request.url ?? '', type, agent, connection, body });
      response.end('{}');
    };
    t.same(await ring(), { ok: true });
    t.match(seen, [
      {
        url: '/ring/s3cr3t-token',
        type: 'application/json',
        agent: 'Stackwarden/test',
        connection: 'close',
        body: '{"title":"Title","body":"Body","color":12597547}',
      },
    ]);
  });

  await t.test('failures are sentences without secrets', async t => {
    answer = (_, response) =>
      void response.writeHead(429, { 'retry-after': '7' }).end('{"message":"slow, s3cr3t-token"}');
    t.same(await ring(), { ok: false, error: 'HTTP 429: slow, [redacted]', retryAfterSec: 7 });
    answer = (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
    t.match(await ring(), { ok: false, error: 'HTTP 302: the service redirects, which is not followed' });
    answer = (_, response) => void response.writeHead(500).end('<html>');
    t.match(await ring(), { ok: false, error: 'HTTP 500' });
    answer = request => void request.socket.destroy();
    t.match(await ring(), { ok: false, error: 'The service closed the connection without an answer.' });
    answer = () => undefined;
    t.match(await ring('?cto=1&rto=1'), { ok: false, error: 'The service did not answer in time.' });
  });

  await t.test('sentences of the host keep words that also appear in a URL', async t => {
    const url = readUrl(`bell://me:connection@127.0.0.1:${port}/redir/service?key=answer`, bell.schemes);
    const told = async () => (await attempt(bell, url, FACTS, access)) as { error?: string };
    answer = (_, response) => void response.writeHead(302).end();
    t.match(await told(), { error: 'HTTP 302: the service redirects, which is not followed' });
    answer = request => void request.socket.destroy();
    t.match(await told(), { error: 'The service closed the connection without an answer.' });
    answer = (_, response) => void response.writeHead(500).end('no answer from /redir');
    t.match(await told(), { error: 'HTTP 500: no [redacted] from /[redacted]' });
  });

  await t.test('a destination can interpret answers itself', async t => {
    const own: NotificationDestination<string[]> = {
      ...bell,
      parse: url => url.segments.map(segment => `${url.base()}/${segment}`),
      send: (urls, _, delivery) =>
        delivery.each(urls, async url => {
          const heard = await delivery.request(url, {});
          const {
            fine: isOk = true,
            why: reason,
            wait: retryAfterSec,
          } = heard.json as { fine?: boolean; why?: unknown; wait?: unknown };
          return delivery.outcome(heard, { statuses: [200], isOk, reason, retryAfterSec });
        }),
    };
    const seen: string[] = [];
    const send = (json: object) => {
      answer = ({ url = '' }, response) => {
        seen.push(url);
        response.writeHead(200, { 'retry-after': '5' }).end(url === '/one' ? JSON.stringify(json) : '{}');
      };
      return attempt(own, readUrl(`bell://127.0.0.1:${port}/one/two`, own.schemes), FACTS, access);
    };
    t.same(await send({}), { ok: true });
    t.same(await send({ fine: false, why: 'no room', wait: 2.5 }), {
      ok: false,
      error: 'HTTP 200: no room',
      retryAfterSec: 2.5,
    });
    t.same(await send({ fine: false, error: 'odd', wait: 'long' }), {
      ok: false,
      error: 'HTTP 200: odd',
      retryAfterSec: 5,
    });
    t.same(seen, ['/one', '/two', '/one', '/two', '/one', '/two'], 'one that refuses spares no other');
  });

  await t.test('hostile answers do no harm', async t => {
    const fail = async (status: number, headers: Record<string, string>, body: string | Buffer) => {
      answer = (_, response) => void response.writeHead(status, headers).end(body);
      return ring();
    };
    const pause = { ok: false, retryAfterSec: 9_999_999_999 };
    t.match(await fail(429, { 'retry-after': '9999999999' }, ''), pause, 'what is too long is cut later');
    const whole = { ok: false, retryAfterSec: Number.MAX_SAFE_INTEGER };
    for (const digits of [18, 400]) t.match(await fail(429, { 'retry-after': '9'.repeat(digits) }, ''), whole);
    t.match(await fail(503, { 'retry-after': '1e9' }, ''), { ok: false, retryAfterSec: undefined });
    t.match(await fail(500, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(10_000_000))), {
      error: 'HTTP 500: the answer is compressed, though that was not asked for',
    });
    t.match(await fail(500, {}, 'one\u0000\r\ntwo\u001b[2J'), { error: 'HTTP 500: one two [2J' });
    t.match(await fail(500, {}, `x${'😀'.repeat(200)}`), { error: `HTTP 500: x${'😀'.repeat(98)}...` });
    answer = request => {
      const { socket } = request;
      const more = () =>
        void (socket.destroyed || socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => setImmediate(more)));
      more();
    };
    t.match(await ring('?cto=1&rto=1'), { ok: false, error: 'The service did not answer in time.' });
    const endless: NotificationDestination<string> = {
      ...bell,
      parse: url => url.base(),
      send: async (base, _, delivery) => {
        const heard = await delivery.request(base, {});
        return delivery.outcome(heard, { isOk: false, retryAfterSec: heard.json.wait });
      },
    };
    answer = (_, response) => void response.end('{"wait":1e999,"error":"later"}');
    const url = readUrl(`bell://127.0.0.1:${port}`, bell.schemes);
    t.same(await attempt(endless, url, FACTS, access), {
      ok: false,
      error: 'HTTP 200: later',
      retryAfterSec: undefined,
    });
  });

  await t.test('an answer without end is read to its limit', async t => {
    answer = (_, response) => {
      const more = () => void (response.destroyed || response.write('x'.repeat(10_000), () => setImmediate(more)));
      response.writeHead(503);
      more();
    };
    t.match(await ring(), { ok: false, error: `HTTP 503: ${'x'.repeat(197)}...` });
  });

  await t.test('a message that is too long is split on request', async t => {
    const bodies: string[] = [];
    answer = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      bodies.push(JSON.parse(body).body);
      response.end();
    };
    const short = { ...bell, limits: { body: 20 } };
    const send = (query: string) =>
      attempt(
        short,
        readUrl(`bell://127.0.0.1:${port}/token${query}`, bell.schemes),
        { ...FACTS, body: 'x'.repeat(50) },
        access,
      );
    t.same(await send(''), { ok: true });
    t.same(await send('?overflow=split'), { ok: true });
    t.same(bodies, [`${'x'.repeat(17)}...`, 'x'.repeat(20), 'x'.repeat(20), 'x'.repeat(10)]);
  });
});

t.test('URLs are parsed', async t => {
  const read = (text: string) => readUrl(text, ['bell', 'bells']);
  t.match(read('BELLS://us%40er:p%3Aa%2Fss@Host.Lan:81/A%20b//#chan?Key=%26v&+X-H=1&:e=2&-q=3'), {
    scheme: 'bells',
    isSecure: true,
    user: 'us@er',
    password: 'p:a/ss',
    host: 'Host.Lan',
    port: 81,
    segments: ['A b', '#chan'],
  });
  const url = read('bell://[fe80::1]:81/x?Key=%26v&+X-H=1&:e=2&-q=3');
  t.same([url.base(), url.query.get('key'), url.prefixed('+')], ['http://[fe80::1]:81', '&v', { 'X-H': '1' }]);
  t.same([url.prefixed(':'), url.prefixed('-')], [{ e: '2' }, { q: '3' }]);
  t.equal(read('bell://host/a%2Fb/c%20d/e').path(0, -1), '/a%2Fb/c%20d');
  t.same(read('bell://host?+X-One=1&+X-Two=2').extraHeaders(), { 'X-One': '1', 'X-Two': '2' });
  for (const query of ['+X%0AY=1', '+X=1%0D%0AY:2', '+Content-Length=1', `+X=${'x'.repeat(8_193)}`, '+=1'])
    t.throws(() => read(`bell://host?${query}`).extraHeaders(), { status: 400, message: /header/ }, query.slice(0, 20));
  t.equal(read('bell://host/\ud800').path(), '/%EF%BF%BD', 'half a character');
  t.match(read('bell://123:abc/chat'), { host: '123:abc', port: null, authority: '123:abc', isSecure: false });
  t.equal(read('bells://host').base(8123), 'https://host:8123');
  for (const text of ['bell://', 'bell:///x', 'bell://a b/x', 'bell://host:99999/x', 'bell://[zz]/x'])
    t.throws(() => read(text).base(), { status: 400, message: /names no host/ }, text);
  for (const text of ['', 'host/path', '://x']) t.throws(() => read(text), { status: 400, message: /scheme/ }, text);
  const web = readUrl('https://host/?verify=no&format=html', ['http', 'https']);
  const asGiven = { verifyTls: true, format: 'text', readTimeoutMs: 15_000 };
  t.match(readOptions(web, ['http', 'https']), asGiven, "the query of a webhook is its receiver's own");
  t.match(readOptions(web, ['bell']), { verifyTls: false, format: 'html' }, 'that of a known service is not');
  t.match(readOptions(read('bell://h?verify=NO&format=markdown&overflow=split&cto=0.2&rto=99'), ['bell']), {
    verifyTls: false,
    format: 'markdown',
    overflow: 'split',
    connectTimeoutMs: 1_000,
    readTimeoutMs: 15_000,
  });
});

t.test('the README shows the URL of each destination', async t => {
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  for (const folder of (await pluginNames()).filter(name => name.startsWith('notify-'))) {
    const { example } = await contributionOf<NotificationDestination>(folder, 'notifications.destination');
    t.ok(readme.includes(`\`${example}\``), `${folder}: ${example}`);
  }
});

t.test('a refused URL is answered with the form that it should have', async t => {
  const destinations = new Map<string, NotificationDestination>();
  for (const folder of (await pluginNames()).filter(name => name.startsWith('notify-')))
    destinations.set(folder, await contributionOf(folder, 'notifications.destination'));
  const list = destinations as unknown as ContributionList<NotificationDestination>;
  const refusal = (text: string): string => {
    try {
      findDestination(list, { provider: text.startsWith('http') ? 'webhook' : 'apprise', text });
      return '';
    } catch (error) {
      return errorText(error);
    }
  };
  for (const { schemes, example } of destinations.values()) {
    const beginnings = example.split('/').map((_, index, parts) => parts.slice(0, index + 3).join('/'));
    const texts = schemes.flatMap(scheme => [`${scheme}://`, `${scheme}://q7`]);
    for (const text of [...texts, ...beginnings]) t.notMatch(refusal(text), /redacted/i, text);
  }
  t.match(refusal('discord://q7'), /: discord:\/\/webhook_id\/webhook_token$/);
  t.match(refusal('discord://webhook_id/webhook_token'), /: discord:\/\/webhook_id\/webhook_token$/);
});

t.test('texts are cut or split at limits', async t => {
  const texts = (limits: object, overflow: 'truncate' | 'split' | 'upstream' = 'truncate') =>
    messagesFor({ ...FACTS, title: 'Title', body: 'ä'.repeat(30) }, { limits }, { format: 'text', overflow });
  t.match(texts({ body: 20, unit: 'bytes' }), [{ body: `${'ä'.repeat(8)}...`, title: 'Title' }]);
  t.match(texts({ text: 20 }), [{ text: `Title\n${'ä'.repeat(11)}...` }]);
  t.match(texts({ total: 20 }), [{ body: `${'ä'.repeat(12)}...` }]);
  t.match(texts({ text: 20 }, 'split'), [{ text: `Title\n${'ä'.repeat(14)}` }, Object, { text: 'Title\nää' }]);
  t.match(texts({ body: 20 }, 'upstream'), [{ body: 'ä'.repeat(30) }]);
  t.equal(messagesFor({ ...FACTS, title: '' }, {})[0]?.text, 'Body');

  const marked = { ...FACTS, title: '@all', body: '*a* <b>' };
  const write = (escapes: 'markdown' | Record<string, string>, options = {}) =>
    messagesFor(marked, { escapes, limits: { body: 16 } }, { format: 'text', overflow: 'truncate', ...options })[0];
  t.match(write('markdown'), { title: '@\u200ball', body: '\\*a\\* \\<b\\>' });
  t.match(write({ '<': '&lt;' }), { text: '@all\n*a* &lt;b>' }, 'a service has characters of its own');
  t.match(write('markdown', { format: 'markdown' }), { title: '@all', body: '*a* <b>' }, 'markup that is asked for');
  t.match(write('markdown', { overflow: 'upstream' }), { body: '\\*a\\* \\<b\\>' });
  const stars = { ...FACTS, body: '*'.repeat(20) };
  t.match(
    messagesFor(stars, { escapes: 'markdown', limits: { body: 16 } }),
    [{ body: `${'\\*'.repeat(6)}...` }],
    'no escape is divided',
  );
  const split = messagesFor(
    stars,
    { escapes: 'markdown', limits: { body: 16 } },
    { format: 'text', overflow: 'split' },
  );
  t.same(
    split.map(({ body }) => body),
    ['\\*'.repeat(8), '\\*'.repeat(8), '\\*'.repeat(4)],
  );
});

t.test('secrets of a URL are masked in any form', async t => {
  const url = readUrl('bell://me:p%22w@host/to%2Fken?key=abc', ['bell'], { 'X-Key': 'value-of-key' });
  const scrub = scrubber(url);
  for (const secret of [
    url.text,
    'p"w',
    'p%22w',
    'p\\"w',
    'to/ken',
    'to%2Fken',
    'value-of-key',
    'X-Key',
    'to%2fken',
    btoa('me:p"w'),
    btoa('value-of-key').replace(/=+$/, ''),
  ])
    t.notMatch(scrub(`it says ${secret} here`), secret, secret);
  t.equal(scrub('the key abc of me, memory abcd'), 'the key [redacted] of [redacted], memory abcd');
  t.equal(scrub('see https://elsewhere/x?y for more'), 'see https://[redacted] for more');
});
