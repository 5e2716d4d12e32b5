// Outgoing requests of a plugin to a server with every fault: slow, endless, cut off, with circular redirects,
// compressed.
import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024));

/** Connections whose answer was cut off, or whose reader left. */
let closedByClient = 0;

const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/text': (_request, response) => response.end('{"fine":true}'),
  '/silent': () => undefined,
  '/slow-body': (_request, response) => void response.write('begun'),
  '/pieces': (_request, response) => {
    response.write('one ');
    setImmediate(() => response.write('two '));
    setImmediate(() => setImmediate(() => response.end('three')));
  },
  '/endless': (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(PIECE));
    };
    response.on('drain', more);
    more();
  },
  '/cut': (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('a part', () => response.destroy());
  },
  '/circle': ({ url = '' }, response) =>
    response.writeHead(302, { location: url.includes('?') ? `${url}1` : '/circle?1' }).end(),
  '/self': (_request, response) => response.writeHead(302, { location: '/self' }).end(),
  '/once': (_request, response) => response.writeHead(307, { location: '/text' }).end(),
  '/bomb': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
  '/encoding': (request, response) => response.end(request.headers['accept-encoding']),
  '/called-text': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`\n ${JSON.stringify(['x'.repeat(100_000)])}`),
  '/no-json': (_request, response) => response.end(`"${'x'.repeat(100_000)}"`),
  '/echo': (request, response) => void request.pipe(response),
};

async function serve(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) closedByClient += 1;
    });
    answers[request.url?.replace(/\?1*$/, '') ?? '']?.(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The `host` object of a third party's plugin. */
async function pluginHost(t: Test) {
  const place = `host of ${t.name}`;
  const dir = testDir(t, {
    caller: {
      'index.js': `export default { name: 'caller', host: '^1', setup (host) { globalThis[${JSON.stringify(place)}] = host } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const host = (globalThis as unknown as Record<string, Host>)[place] as Host;
  return { app, host, base: await serve(t) };
}

async function read(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

t.test('an answer is available as text or as a stream', async t => {
  const { host, base } = await pluginHost(t);
  const text = await host.fetch(`${base}/text`, { timeoutMs: Number.POSITIVE_INFINITY });
  t.match(text, { status: 200, text: '{"fine":true}' });
  t.same(text.json(), { fine: true });
  const stream = await host.fetch(`${base}/pieces`, { stream: true });
  t.equal(stream.status, 200);
  const pieces: string[] = [];
  for await (const chunk of stream.body) pieces.push(chunk.toString());
  t.equal(pieces.join(''), 'one two three');
  t.ok(pieces.length > 1, 'as they come');
  t.match(await host.fetch(`${base}/once`), { status: 200, text: /fine/ }, 'redirects are followed');
  t.equal((await host.fetch(`${base}/once`, { redirects: 0 })).status, 307, 'unless they are the answer');
});

t.test('given addresses replace the name, and a proxy is used only on request', async t => {
  const { host, base } = await pluginHost(t);
  const { port } = new URL(base);
  const named = `http://no-such-name.invalid:${port}`;
  t.match(await host.fetch(`${named}/text`, { addresses: ['127.0.0.1'] }), { status: 200, text: /fine/ });
  t.match(
    await host.fetch(`${named}/text`, { addresses: ['::1', '127.0.0.1'] }),
    { status: 200 },
    'each of them is tried',
  );
  t.equal((await host.fetch(`${named}/once`, { addresses: ['127.0.0.1'] })).status, 307, 'no redirect is followed');
  await t.rejects(host.fetch(`${named}/text`, { addresses: [] }));

  const asked: string[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    asked.push(url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  process.env.http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  t.teardown(() => {
    delete process.env.http_proxy;
  });
  t.match(await host.fetch(`${base}/text`), { status: 200 });
  await t.rejects(host.fetch(`${named}/text`, { addresses: ['127.0.0.1'], proxied: true }));
  t.same(asked, [`no-such-name.invalid:${port}`]);
});

t.test('an error names the server that does not answer, or stops in the middle', async t => {
  const { host, base } = await pluginHost(t);
  const late = { message: /^127\.0\.0\.1:\d+ did not answer within 50 ms$/ };
  await t.rejects(host.fetch(`${base}/silent`, { timeoutMs: 50 }), late);
  await t.rejects(host.fetch(`${base}/slow-body`, { timeoutMs: 50 }), late, 'a text has one limit for all of it');
  await t.rejects(host.fetch(`${base}/silent`, { stream: true, timeoutMs: 50 }), late);
  const begun = await host.fetch(`${base}/slow-body`, { stream: true, idleTimeoutMs: 50 });
  await t.rejects(read(begun.body), late, 'a stream may not fall silent');
  await t.rejects(host.fetch(`${base}/cut`), /other side closed|aborted|terminated/);
  const cut = await host.fetch(`${base}/cut`, { stream: true });
  await t.rejects(read(cut.body), /other side closed|aborted|terminated/);
});

t.test('an answer above the size limit is refused', async t => {
  const { host, base } = await pluginHost(t);
  await t.rejects(host.fetch(`${base}/endless`), /larger than 10485760 bytes/);
  const before = closedByClient;
  const { body } = await host.fetch(`${base}/endless`, { stream: true, maxBytes: 1_000_000 });
  let bytes = 0;
  await t.rejects(async () => {
    for await (const chunk of body) bytes += chunk.length;
  }, /larger than 1000000 bytes/);
  t.ok(bytes <= 1_000_000);
  const left = await host.fetch(`${base}/endless`, { stream: true });
  for await (const chunk of left.body) {
    t.ok(chunk.length > 0);
    break;
  }
  await until(() => closedByClient >= before + 2, { what: 'the connection to be closed by whoever stops reading' });
});

t.test('large JSON is parsed before `json` is called, whatever its content type', async t => {
  const { host, base } = await pluginHost(t);
  const answer = await host.fetch(`${base}/called-text`);
  const value = answer.json() as string[];
  t.equal(value[0]?.length, 100_000);
  t.equal(answer.json(), value, 'nothing is read when it is asked for');
  const none = await host.fetch(`${base}/no-json`);
  t.equal(none.text.length, 100_002);
  t.throws(() => none.json(), /neither an object nor a list/);
});

t.test('circular redirects are an error', async t => {
  const { host, base } = await pluginHost(t);
  await t.rejects(host.fetch(`${base}/circle`, { redirects: 3 }), /redirects more than 3 times/);
  await t.rejects(host.fetch(`${base}/circle`, { stream: true }), /redirects more than 5 times/);
  await t.rejects(host.fetch(`${base}/self`), /[Rr]edirect/);
});

t.test('compressed answers are not decompressed', async t => {
  const { host, base } = await pluginHost(t);
  t.equal((await host.fetch(`${base}/encoding`)).text, 'identity');
  const bomb = await host.fetch(`${base}/bomb`);
  t.ok(bomb.text.length <= BOMB.length);
  t.throws(() => bomb.json(), /compressed \(gzip\)/);
  const raw = await host.fetch(`${base}/bomb`, { stream: true });
  t.equal((await read(raw.body)).length, BOMB.toString().length);
});

t.test('streamed bodies are sent piece by piece', async t => {
  const { host, base } = await pluginHost(t);
  async function* lines() {
    yield '{"n":1}\n';
    yield Buffer.from('{"n":2}\n');
  }
  const answer = await host.fetch(`${base}/echo`, { method: 'POST', body: lines() });
  t.equal(answer.text, '{"n":1}\n{"n":2}\n');
  async function* broken() {
    yield 'a';
    throw new Error('the source broke');
  }
  await t.rejects(host.fetch(`${base}/echo`, { method: 'POST', body: broken() }), /the source broke/);
});

t.test('a stream ends with its plugin, read or not', async t => {
  const { app, host, base } = await pluginHost(t);
  const before = closedByClient;
  const unread = await host.fetch(`${base}/endless`, { stream: true });
  const own = new AbortController();
  const stopped = await host.fetch(`${base}/endless`, { stream: true, maxBytes: 1e12, signal: own.signal });
  const reading = read(stopped.body);
  own.abort(new Error('enough'));
  await t.rejects(reading, /enough/);
  const { body } = await host.fetch(`${base}/slow-body`, { stream: true });
  const iterator = body[Symbol.asyncIterator]();
  t.equal((await iterator.next()).value?.toString(), 'begun');
  const next = t.rejects(iterator.next(), /is being stopped/);
  await app.stop();
  await next;
  await t.rejects(read(unread.body), /is being stopped/);
  await until(() => closedByClient >= before + 3);
});

t.test('a lasting signal keeps no listeners of ended requests', async t => {
  const { host, base } = await pluginHost(t);
  const { signal } = new AbortController();
  await host.fetch(`${base}/text`, { signal });
  await read((await host.fetch(`${base}/text`, { stream: true, signal })).body);
  await t.rejects(host.fetch(`${base}/silent`, { timeoutMs: 10, signal }), /did not answer/);
  for (const lasting of [signal, host.signal]) {
    // `AbortSignal.any` keeps its dependent signals under this symbol.
    const own = Object.getOwnPropertySymbols(lasting).find(({ description }) => description === 'kDependantSignals');
    const joined = own === undefined ? undefined : (lasting as unknown as Record<symbol, Set<unknown>>)[own];
    t.same([getEventListeners(lasting, 'abort').length, joined?.size ?? 0], [0, 0]);
  }
});

t.test('idle connections are kept for a few options only', async t => {
  const { host } = await pluginHost(t);
  const open = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => response.end('fine'));
  server.on('connection', socket => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const begun = Array.from({ length: 30 }, (_, index) => host.fetch(url, { connectTimeoutMs: 1_000 + index }));
  for (const { text } of await Promise.all(begun)) t.equal(text, 'fine', 'and what ends is waited for');
  // Otherwise the client closes an idle connection only after ten seconds.
  await until(() => open.size <= 8, { timeoutMs: 5_000, what: 'the end of the oldest connections' });
});

t.test('an unread body is closed', async t => {
  const { host, base } = await pluginHost(t);
  const before = closedByClient;
  const { body } = await host.fetch(`${base}/endless`, { stream: true, idleTimeoutMs: 50 });
  await until(() => closedByClient > before);
  await t.rejects(read(body), /did not answer within 50 ms/);
});
