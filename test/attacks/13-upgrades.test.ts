// Upgrades through the gateway: one that its service never answers costs nothing once its client has left, and what one
// client sends with an upgrade never reaches the request of another.
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { EmbeddedUis } from '../../plugins/gateway/embedded-uis.ts';
import { createGateway } from '../../plugins/gateway/gateway.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { raw } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

interface Service {
  readonly port: number;
  /** What came over each connection, in order. */
  readonly received: string[];
  readonly connections: Set<Socket>;
}

/** Answers each chunk of a connection with what `answer` gives for everything received; nothing where it is blank. */
async function serve(t: Test, answer: (received: string) => string): Promise<Service> {
  const service: Service = { port: 0, received: [], connections: new Set() };
  const server = createServer(socket => {
    const index = service.received.push('') - 1;
    service.connections.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => service.connections.delete(socket));
    socket.on('data', chunk => {
      service.received[index] += chunk.toString('latin1');
      const text = answer(service.received[index] ?? '');
      if (text !== '') socket.write(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of service.connections) socket.destroy();
    server.close();
  });
  return Object.assign(service, { port: (server.address() as { port: number }).port });
}

async function openGateway(t: Test, port: number): Promise<number> {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  const ui = { name: 'app', processName: 'App', host: '127.0.0.1', port, entryPath: '' };
  const embedded = new EmbeddedUis({ listUis: () => [ui as never], isOwnCredential: () => false });
  t.teardown(() => embedded.close());
  const gateway = createGateway({
    entrance: entrance.http,
    embedded,
    staticDir: '',
    refusal: () => null,
    nativeUrl: '',
  });
  const listener = await entrance.http.open({ host: '127.0.0.1', port: 0, ...gateway });
  t.teardown(() => listener.close(0));
  return listener.port;
}

const upgrade = (...more: readonly string[]) => [
  'GET /ui/app/socket HTTP/1.1',
  'Host: nas',
  'Connection: Upgrade',
  'Upgrade: websocket',
  ...more,
];
const bytes = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const descriptors = async () => (await readdir('/proc/self/fd')).length;

/** The number at rest: what the start of a host still holds is let go. */
async function settled(): Promise<number> {
  const last: number[] = [];
  await until(async () => {
    last.push(await descriptors());
    return last.length >= 10 && new Set(last.slice(-10)).size === 1;
  });
  return last.at(-1) ?? 0;
}
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

t.test('a service that does not answer an upgrade costs nothing after its client left', async t => {
  const service = await serve(t, () => '');
  const port = await openGateway(t, service.port);
  const before = await settled();
  const leave: readonly ((socket: Socket) => unknown)[] = [
    socket => socket.end(),
    socket => socket.destroy(),
    socket => socket.resetAndDestroy(),
    socket => socket.write('x'.repeat(200_000)),
  ];
  for (const [index, how] of leave.entries()) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    t.teardown(() => socket.destroy());
    socket.write(bytes(upgrade()));
    await until(() => service.received.filter(text => text !== '').length === index + 1, { what: 'the upgrade' });
    how(socket);
    await until(() => service.connections.size === 0, { what: `the service to be left (${index})` });
    socket.destroy();
  }
  await until(async () => (await descriptors()) <= before, { what: 'all descriptors to be closed' });
});

t.test('a refused upgrade is closed even when its client goes on', async t => {
  const service = await serve(t, () => OK);
  const port = await openGateway(t, service.port);
  const idle = await settled();
  for (const lines of [upgrade(), ['GET /nowhere HTTP/1.1', ...upgrade().slice(1)]]) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.resume();
    await once(socket, 'connect');
    await until(async () => (await descriptors()) >= idle + 2, { what: 'the gateway to accept' });
    const before = await settled();
    socket.write(bytes(lines));
    await once(socket, 'end');
    // The client's own descriptor stays open, that of the gateway does not.
    await until(async () => (await descriptors()) < before, { what: 'the gateway to close its side' });
    socket.destroy();
  }
  await until(() => service.connections.size === 0, { what: 'the service to be left' });
});

t.test('a body on an upgrade is refused, and connections of upgrades are never used again', async t => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  // A service that does not know upgrades: it answers and keeps the connection.
  const service = await serve(t, received => (received.endsWith('\r\n\r\n') ? OK : ''));
  const port = await openGateway(t, service.port);
  for (const header of ['Content-Length: 100', 'Transfer-Encoding: chunked', 'Content-Length: 00']) {
    const { status, text } = await raw(port, [...upgrade(header), '', smuggled]);
    t.equal(status, 400, header);
    t.match(text, /"detail":/);
  }
  t.same(service.received, [], 'nothing of it reached the service');

  t.equal((await raw(port, upgrade())).status, 502, 'a service that answers as if nobody had asked for an upgrade');
  await raw(port, [...upgrade(), '', smuggled]);
  const plain = ['GET /ui/app/page HTTP/1.1', 'Host: nas', 'Connection: close'];
  for (let count = 0; count < 3; count += 1) t.match((await raw(port, plain)).text, /200 OK/);
  for (const text of service.received) {
    if (/^GET \/socket/.test(text))
      t.notMatch(text, /GET \/page/, 'a page never comes over the connection of an upgrade');
    t.notMatch(text, /content-length|transfer-encoding/i);
  }
  t.notOk(service.received.some(text => /^GET \/page.*smuggled/s.test(text)));
});

t.test('only WebSockets are forwarded', async t => {
  const service = await serve(t, () => SWITCHED);
  const port = await openGateway(t, service.port);
  const h2c = ['GET /ui/app/ HTTP/1.1', 'Host: nas', 'Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c'];
  const { status } = await raw(port, [...h2c, 'HTTP2-Settings: AAMAAABkAAQAAP__']);
  t.equal(status, 502, 'a service that switches though nobody asked it to');
  t.notMatch(service.received[0], /upgrade|http2-settings/i);
  t.equal((await raw(port, upgrade())).status, 101);
  const both = upgrade().map(line => (line.startsWith('Upgrade') ? 'Upgrade: h2c, websocket' : line));
  t.equal((await raw(port, both)).status, 101);
  t.match(service.received.at(-1), /\r\nupgrade: websocket\r\n/i);
});

t.test('headers of the answer stay as their bytes are', async t => {
  const service = await serve(t, () => SWITCHED.replace('\r\n\r\n', '\r\nX-Name: \u00E9\r\n\r\n'));
  t.match((await raw(await openGateway(t, service.port), upgrade())).text, /\r\nX-Name: \u00E9\r\n/);
});

t.test('what is sent early reaches a service that takes the upgrade', async t => {
  let answers = false;
  const service = await serve(t, received => (answers && !received.includes('early') ? '' : answers ? SWITCHED : ''));
  const port = await openGateway(t, service.port);
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(bytes(upgrade()));
  await until(() => service.received[0] !== undefined && service.received[0] !== '', { what: 'the upgrade' });
  for (const taken of service.connections) taken.write(SWITCHED);
  socket.write('early');
  answers = true;
  await until(() => service.received[0]?.endsWith('early'), { what: 'the bytes that came early' });
});

t.test('an upgrade behind a request takes no place before the answer to it', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  let release: () => void = () => undefined;
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  let opened = 0;
  entrance.http.addRoute('a', {
    method: 'GET',
    path: '/slow',
    summary: 's',
    handle: () => released.then(() => 'slow'),
  });
  entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open: () => {
      opened += 1;
    },
  });
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
  const stream = ['GET /ws/a HTTP/1.1', ...upgrade(...key).slice(1)];
  const socket = connect(entrance.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let received = '';
  socket.on('data', data => {
    received += String(data);
  });
  socket.write(`${bytes(['GET /slow HTTP/1.1', 'Host: nas'])}${bytes(stream)}`);
  const known = await raw(entrance.port, ['GET /other HTTP/1.1', 'Host: nas', 'Connection: close']);
  t.equal(known.status, 404, 'what came in before has been read');
  t.equal(received, '', 'nothing is answered out of order');
  release();
  await once(socket, 'close');
  t.match(received, /^HTTP\/1\.1 200 OK.*"slow"HTTP\/1\.1 400 .*all earlier requests/s);
  t.equal(opened, 0);

  const later = connect(entrance.port, '127.0.0.1');
  t.teardown(() => later.destroy());
  later.write(bytes(['GET /slow HTTP/1.1', 'Host: nas']));
  await once(later, 'data');
  later.write(bytes(stream));
  await until(() => opened === 1, { what: 'the upgrade after the answer' });
});
