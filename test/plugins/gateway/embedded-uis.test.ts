// Web interfaces behind the gateway: whatever a service or a client sends, no request waits for ever or is taken for
// another.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { ServiceUi } from '../../../plugins/service-ui/contract.ts';
import { raw as rawAnswer } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

const folder = new URL('../../../plugins/gateway/', import.meta.url);
const isHere = existsSync(new URL('index.ts', folder));

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns the port on which requests are forwarded to these interfaces. */
async function forwardTo(t: Test, uis: readonly ServiceUi[]): Promise<number> {
  const { EmbeddedUis } = (await import(
    new URL('embedded-uis.ts', folder).href
  )) as typeof import('../../../plugins/gateway/embedded-uis.ts');
  const embedded = new EmbeddedUis({ listUis: () => uis, isOwnCredential: () => false });
  const front = createHttpServer((request, response) => void embedded.handleRequest(request, response));
  t.teardown(async () => {
    await embedded.close();
    front.close();
  });
  return listen(front);
}

t.test(
  'a service that never answers an upgrade is given up, and one that answers it as any request',
  { skip: !isHere },
  async t => {
    const { EmbeddedUis } = (await import(
      new URL('embedded-uis.ts', folder).href
    )) as typeof import('../../../plugins/gateway/embedded-uis.ts');
    const sockets = new Set<Socket>();
    const silent = createServer(socket => sockets.add(socket));
    const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(silent), entryPath: '' };
    const plain = createHttpServer((_request, response) => response.end('hello'));
    const plainUi = { ...ui, name: 'plain', processName: 'Plain', port: await listen(plain) };
    // `patient` waits as long as the product does, which is more than any test takes.
    const options = { listUis: () => [ui as ServiceUi, plainUi as ServiceUi], isOwnCredential: () => false };
    const hasty = new EmbeddedUis({ ...options, responseTimeoutMs: 50 });
    const patient = new EmbeddedUis(options);
    const front = createHttpServer();
    front.on('upgrade', (request, socket, head) => {
      const uis = request.url?.startsWith('/ui/app/') ? hasty : patient;
      t.ok(uis.handleUpgrade(request, socket, head));
    });
    const port = await listen(front);
    t.teardown(async () => {
      await Promise.all([hasty.close(), patient.close()]);
      for (const socket of sockets) socket.destroy();
      silent.close();
      plain.close();
      front.close();
    });
    for (const [name, status] of [
      ['app', 504],
      ['plain', 502],
    ] as const) {
      const client = new WebSocket(`ws://127.0.0.1:${port}/ui/${name}/socket`);
      client.on('error', () => undefined);
      const [, answer] = await once(client, 'unexpected-response');
      t.equal(answer.statusCode, status, name);
      client.terminate();
    }
  },
);

t.test('a refused upgrade says what the service demands', { skip: !isHere }, async t => {
  const { EmbeddedUis } = (await import(
    new URL('embedded-uis.ts', folder).href
  )) as typeof import('../../../plugins/gateway/embedded-uis.ts');
  const own = 'Content-Type: text/html\r\nContent-Length: 2\r\nETag: "a"\r\n';
  const demands = 'WWW-Authenticate: Basic realm="\u00E9"\r\nWWW-Authenticate: Bearer\r\nSec-WebSocket-Version: 13\r\n';
  const hop = 'Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nX-Frame-Options: DENY\r\n';
  let statusLine = '';
  const service = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end(`HTTP/1.1 ${statusLine}\r\n${own}${demands}${hop}\r\nno`));
  });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(service), entryPath: '' };
  const uis = new EmbeddedUis({ listUis: () => [ui as ServiceUi], isOwnCredential: () => false });
  const front = createHttpServer();
  front.on('upgrade', (request, socket, head) => t.ok(uis.handleUpgrade(request, socket, head)));
  const port = await listen(front);
  t.teardown(async () => {
    await uis.close();
    service.close();
    front.close();
  });
  const ask = ['GET /ui/app/socket HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  statusLine = '401 Unauthorized';
  const { status, text } = await rawAnswer(port, ask);
  t.equal(status, 401);
  t.match(text, /^www-authenticate: Basic realm="\u00E9"\r$/im, 'its bytes stay as they are');
  t.match(text, /^www-authenticate: Bearer\r$/im);
  t.match(text, /^sec-websocket-version: 13\r$/im);
  t.notMatch(text, /^(?:etag|x-hop|keep-alive|content-type: text\/html|x-frame-options: deny)/im);
  t.equal(text.match(/^content-length:/gim)?.length, 1);
  t.match(text, /"App does not take this connection"/);
  statusLine = '200 OK';
  const taken = await rawAnswer(port, ask);
  t.equal(taken.status, 502);
  t.notMatch(taken.text, /www-authenticate/i, 'an answer that is no refusal demands nothing');
});

t.test('an upgrade for no interface is refused as a request is', { skip: !isHere }, async t => {
  const { EmbeddedUis } = (await import(
    new URL('embedded-uis.ts', folder).href
  )) as typeof import('../../../plugins/gateway/embedded-uis.ts');
  let isOff = false;
  const uis = new EmbeddedUis({ listUis: () => [], areOff: () => isOff, isOwnCredential: () => false });
  const front = createHttpServer((request, response) => void uis.handleRequest(request, response));
  front.on('upgrade', (request, socket, head) => {
    if (!uis.handleUpgrade(request, socket, head)) socket.end('HTTP/1.1 418 Other\r\n\r\n');
  });
  const port = await listen(front);
  t.teardown(() => {
    uis.close();
    front.close();
  });
  const upgrade = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  for (const reason of [/There is no web interface named app here/, /switched off .*; switch them on by/]) {
    const { status, text } = await rawAnswer(port, ['GET /ui/app/socket HTTP/1.1', ...upgrade]);
    t.equal(status, 404);
    t.match(text, /^connection: close\r$/im);
    const { detail } = (await (await fetch(`http://127.0.0.1:${port}/ui/app/socket`)).json()) as { detail: string };
    t.match(detail, reason);
    t.equal(text.split('\r\n\r\n')[1], JSON.stringify({ detail }));
    isOff = true;
  }
  t.equal((await rawAnswer(port, ['GET /socket HTTP/1.1', ...upgrade])).status, 418, 'it is left to others');
});

t.test('unusual answers of services are passed on correctly', { skip: !isHere }, async t => {
  const hints = '103 Early Hints\r\nLink: </a>\r\nKeep-Alive: a\r\n\r\n';
  const trailers = 'X-Sum: \u00E9\r\nX-Sum: 2\r\nKeep-Alive: 1\r\n';
  const answers: Record<string, string> = {
    '/304': '304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
    '/204': '204 No Content\r\nContent-Length: 5\r\n\r\n',
    '/large': `200 OK\r\nX-Large: ${'a'.repeat(40_000)}\r\nContent-Length: 2\r\n\r\nok`,
    '/quiet': '200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
    '/continue': '100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    '/hints': `${hints}HTTP/1.1 102 More\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
    '/trailers': `200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${trailers}\r\n`,
    '/larger': `200 OK\r\nX-Large: ${'a'.repeat(70_000)}\r\nContent-Length: 2\r\n\r\nok`,
    '/lengths': '200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
    '/none': '099 None\r\nContent-Length: 2\r\n\r\nok',
    '/a%20%c3%a9': '200 OK\r\nContent-Length: 2\r\n\r\nok',
    '/bytes': '200 OK\r\nX-Name: \u00E9\u4E2D\r\nContent-Length: 2\r\n\r\nok',
    '/gzip': '200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n\x1F\x8B\r\n0\r\n\r\n',
    '/deflate': '200 OK\r\nTransfer-Encoding: deflate\r\n\r\n\x78',
    '/twice': '200 OK\r\nTransfer-Encoding: chunked\r\ntransfer-encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    '/hop': '200 OK\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok',
  };
  const service = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', request => {
      const [, url = ''] = String(request).split(' ');
      socket.write(`HTTP/1.1 ${answers[url]}`);
    });
  });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(service), entryPath: '' };
  t.teardown(() => service.close());
  const port = await forwardTo(t, [ui as ServiceUi, { ...ui, name: 'landing', entryPath: '/a \u00E9' } as ServiceUi]);
  const raw = (path: string) => rawAnswer(port, [`GET /ui/app${path} HTTP/1.1`, 'Host: x', 'Connection: close']);
  const unchanged = await raw('/304');
  t.match(
    unchanged.text,
    /^HTTP\/1\.1 304 .*\r\netag: "a"\r\n.*\r\n\r\n$/s,
    'a length of what is not sent is no fault',
  );
  const nothing = await raw('/204');
  t.match(nothing.text, /^HTTP\/1\.1 204 .*\r\n\r\n$/s);
  t.notMatch(nothing.text, /content-length/i);
  t.match((await raw('/large')).text, /^HTTP\/1\.1 200 .*ok$/s);
  t.match((await raw('/continue')).text, /^HTTP\/1\.1 200 .*ok$/s, 'what the gateway has said itself is passed over');
  const hinted = (await raw('/hints')).text;
  t.match(hinted, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 102 More\r\n\r\nHTTP\/1\.1 200 .*ok$/s);
  const old = await rawAnswer(port, ['GET /ui/app/hints HTTP/1.0', 'Host: x']);
  t.match(old.text, /^HTTP\/1\.1 200 .*ok$/s, 'HTTP/1.0 has no interim answers');
  const trailed = (await raw('/trailers')).text;
  t.match(trailed, /\r\n0\r\nX-Sum: \u00E9\r\nX-Sum: 2\r\n\r\n$/, 'trailers pass, but not what is of the connection');
  t.equal((await raw('/none')).status, 502, 'what is no status');
  t.match((await raw('/larger')).text, /^HTTP\/1\.1 502 .*"App answers with headers of more than 64 KiB; see to /s);
  t.match((await raw('/lengths')).text, /^HTTP\/1\.1 502 .*"App gives no answer of HTTP\/1\.1 on port \d+; see to /s);
  const landing = ['GET /ui/landing/ HTTP/1.1', 'Host: x', 'Connection: close'];
  t.match((await rawAnswer(port, landing)).text, /^HTTP\/1\.1 200 .*ok$/s, 'a landing page with any characters');
  t.match((await raw('/bytes')).text, /x-name: \u00E9\u4E2D\r\n/i, 'headers stay as their bytes are');
  for (const coded of ['/gzip', '/deflate']) {
    const { status, text } = await raw(coded);
    t.equal(status, 502, 'what is compressed is not passed on as if it were plain');
    t.match(text, /App compresses its answers .*Transfer-Encoding/);
  }
  t.match((await raw('/twice')).text, /^HTTP\/1\.1 200 .*ok/s);
  const plain = await raw('/hop');
  t.match(plain.text, /^HTTP\/1\.1 200 .*ok$/s);
  t.notMatch(plain.text, /x-hop/i, 'what is of the connection alone stays there');
  const quiet = new AbortController();
  const begun = await fetch(`http://127.0.0.1:${port}/ui/app/quiet`, { signal: quiet.signal });
  t.equal(begun.headers.get('content-type'), 'text/event-stream', 'a stream of events is told before its first');
  quiet.abort();
});

t.test('an answer that the end of its connection ends is complete only without a reset', { skip: !isHere }, async t => {
  const sockets: Socket[] = [];
  const service = createServer(socket => {
    sockets.push(socket);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nok'));
  });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(service), entryPath: '' };
  t.teardown(() => service.close());
  const port = await forwardTo(t, [ui as ServiceUi]);
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const client = connect(port, '127.0.0.1');
    let received = '';
    client.on('data', chunk => {
      received += String(chunk);
      // The beginning has come through, so the end is all that is missing.
      if (/\r\n2\r\nok\r\n$/.test(received)) sockets.at(-1)?.[end]();
    });
    client.write('GET /ui/app/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await once(client, 'close');
    t.equal(received.endsWith('\r\n0\r\n\r\n'), end === 'end', end);
  }
});

t.test('requests of clients cannot be smuggled', { skip: !isHere }, async t => {
  const received: string[] = [];
  const service = createServer(socket => {
    const at = received.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('data', chunk => {
      received[at] += chunk.toString('latin1');
      if (received[at]?.endsWith('END')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      if (received[at]?.endsWith('0\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(service), entryPath: '' };
  t.teardown(() => service.close());
  const port = await forwardTo(t, [ui as ServiceUi]);
  const send = async (method: string, headers: readonly string[], body: string) => {
    const lines = [`${method} /ui/app/x HTTP/1.1`, 'Host: x', ...headers].join('\r\n');
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.write(`${lines}\r\n\r\n${body}`);
    await once(socket, 'data');
    return received.at(-1) ?? '';
  };
  for (const method of ['GET', 'DELETE', 'POST']) {
    t.match(await send(method, ['Content-Length: 3'], 'END'), /\r\ncontent-length: 3\r\n.*\r\n\r\nEND$/is, method);
    const named = await send(method, ['Connection: close, Content-Length', 'Content-Length: 3'], 'END');
    t.match(
      named,
      /\r\ntransfer-encoding: chunked\r\n.*\r\n\r\n3\r\nEND\r\n0\r\n\r\n$/is,
      `${method} without its length`,
    );
    const chunked = await send(method, ['Transfer-Encoding: chunked'], '3;a=b\r\nEND\r\n0\r\n\r\n');
    t.match(chunked, /\r\n\r\n3\r\nEND\r\n0\r\n\r\n$/, `${method} in chunks`);
  }
  const other = await send(
    'POST',
    ['X_Forwarded_For: 9.9.9.9', 'X-Real_IP: 9.9.9.9', 'X_Own: 1', 'Content-Length: 3'],
    'END',
  );
  t.notMatch(other, /9\.9\.9\.9/, 'no other spelling of what the gateway says');
  t.match(other, /\r\nx_own: 1\r\n/i);
  const taking = await send('POST', ['Connection: TE', 'TE: gzip, trailers', 'Content-Length: 3'], 'END');
  t.match(taking, /\r\nte: trailers\r\nconnection: TE\r\n/i, 'a service may send trailers where its client takes them');
});

t.test('an answer that comes before the end of a body reaches its client', { skip: !isHere }, async t => {
  const answers: Record<string, string> = {
    POST: 'HTTP/1.1 413 Payload Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig',
    GET: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok',
  };
  const service = createServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', request => {
      const answer = answers[String(request).split(' ')[0] ?? ''];
      if (answer === undefined) socket.destroy();
      else socket.end(answer);
    });
  });
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port: await listen(service), entryPath: '' };
  t.teardown(() => service.close());
  const port = await forwardTo(t, [ui as ServiceUi]);
  const body = 'x'.repeat(8 * 1024 * 1024);
  for (const [method, told] of [
    ['POST', /^HTTP\/1\.1 413 .*\r\n\r\nbigHTTP\/1\.1 200 .*ok$/s],
    ['PUT', /^HTTP\/1\.1 502 .*App does not answer on port.*HTTP\/1\.1 200 .*ok$/s],
  ] as const) {
    const socket = connect(port, '127.0.0.1').pause();
    t.teardown(() => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', error => t.comment(error.message));
    socket.write(`${method} /ui/app/x HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    // Like many clients, this one reads nothing until it has sent everything.
    await Promise.race([new Promise(sent => socket.write(body, sent)), once(socket, 'close')]);
    socket.write('GET /ui/app/y HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    t.match(received, told, method);
  }
});

t.test('few connections to services wait for later requests', { skip: !isHere }, async t => {
  const AT_ONCE = 60;
  const held: ServerResponse[] = [];
  let connections = 0;
  const names = ['one', 'two'];
  const uis: ServiceUi[] = [];
  for (const name of names) {
    const service = createHttpServer((_request, response) => void held.push(response));
    service.keepAliveTimeout = 0;
    service.on('connection', socket => {
      connections += 1;
      socket.once('close', () => {
        connections -= 1;
      });
    });
    uis.push({ name, processName: name, host: '127.0.0.1', port: await listen(service), entryPath: '' } as ServiceUi);
    t.teardown(() => service.close());
  }
  const port = await forwardTo(t, uis);
  for (const name of [...names, ...names]) {
    const answers = Array.from({ length: AT_ONCE }, async () =>
      (await fetch(`http://127.0.0.1:${port}/ui/${name}/`)).text(),
    );
    await until(() => held.length === AT_ONCE, { what: 'every request to be there' });
    t.ok(connections >= AT_ONCE);
    for (const response of held.splice(0)) response.end('ok');
    t.ok((await Promise.all(answers)).every(text => text === 'ok'));
    await until(() => connections <= 64, { what: 'connections to be closed' });
    t.ok(connections > 0, 'some stay for later requests');
  }
});

t.test('a request is repeated when the service closes a reused connection', { skip: !isHere }, async t => {
  const asked: string[] = [];
  const used = new Set<Socket>();
  const service = createHttpServer((request, response) => {
    asked.push(request.method ?? '');
    if (used.has(request.socket)) request.socket.destroy();
    else response.end('ok');
    used.add(request.socket);
  });
  const port = await listen(service);
  t.teardown(() => service.close());
  const front = await forwardTo(t, [
    { name: 'app', processName: 'App', host: '127.0.0.1', port, entryPath: '' } as ServiceUi,
  ]);
  const ask = async (options: RequestInit) => (await fetch(`http://127.0.0.1:${front}/ui/app/`, options)).status;
  t.equal(await ask({}), 200);
  t.equal(await ask({}), 200, 'what can be asked twice is');
  t.equal(await ask({}), 200);
  t.equal(await ask({ method: 'POST', body: 'a change' }), 502, 'a change is not made twice');
  t.same(asked, ['GET', 'GET', 'GET', 'GET', 'POST']);
});
