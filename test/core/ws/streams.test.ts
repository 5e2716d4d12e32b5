// Streams as clients see them: access, heartbeats, limits and close codes.
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { Problem } from '../../../core/contract/problem.ts';
import type { StreamClient } from '../../../core/contract/stream.ts';
import { testDir } from '../../support/directory.ts';
import { openEntrance, type TestEntrance, tokenAccess } from '../../support/entrance.ts';
import { until } from '../../support/until.ts';

const MIB = 1_024 * 1_024;
const KEY = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const VERSION = 'Sec-WebSocket-Version: 13\r\n';

interface Peer {
  readonly socket: WebSocket;
  readonly received: string[];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Resolves when the handshake succeeded, rejects when it was refused. */
  readonly opened: Promise<void>;
}

function dial(entrance: TestEntrance, path: string, headers: Record<string, string> = {}): Peer {
  const socket = new WebSocket(`ws://127.0.0.1:${entrance.port}${path}`, { headers });
  const received: string[] = [];
  socket.on('message', data => received.push(String(data)));
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  opened.catch(() => undefined);
  socket.on('error', () => undefined);
  const closed = new Promise<{ code: number; reason: string }>(resolve => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  return { socket, received, closed, opened };
}

async function open(t: Test, options: Parameters<typeof openEntrance>[1] = {}): Promise<TestEntrance> {
  const entrance = await openEntrance(testDir(t), options);
  t.teardown(() => entrance.close());
  return entrance;
}

t.test('a stream opens, answers pings and ends once', async t => {
  const entrance = await open(t);
  const clients: StreamClient[] = [];
  let gone = 0;
  entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open(client) {
      clients.push(client);
      client.send('hello');
      client.send(Buffer.from('wörld'));
      return () => {
        gone += 1;
      };
    },
  });
  entrance.http.addStream('b', { path: '/ws/b', summary: 'b', pong: '{"type":"pong"}', open: () => {} });
  const a = dial(entrance, '/ws/a?interval=1&interval=2&token=');
  await until(() => a.received.length === 2);
  t.same(a.received, ['hello', 'wörld'], 'text frames in order');
  t.equal(clients[0]?.query.get('interval'), '2', 'the last of a repeated name');
  t.same(clients[0]?.identity, { username: null });
  for (const message of ['x', '{', '"ping"', '{"type":"other"}', '{"a":"ping"}', 'null']) a.socket.send(message);
  a.socket.send(Buffer.from('ping'), { binary: true });
  a.socket.send('ping');
  a.socket.send('{"type": "ping"}');
  await until(() => a.received.length === 4);
  t.same(a.received.slice(2), ['pong', 'pong'], 'everything else is ignored');
  const b = dial(entrance, '/ws/b');
  await b.opened;
  b.socket.send('ping');
  await until(() => b.received.length === 1);
  t.same(b.received, ['{"type":"pong"}']);

  t.equal(clients[0]?.signal.aborted, false);
  a.socket.close();
  await until(() => gone === 1);
  t.equal(clients[0]?.signal.aborted, true);
  clients[0]?.send('late');
  clients[0]?.close(1000, 'late');
  t.equal(gone, 1);
  t.ok(entrance.ran.includes('a'), 'runs as its plugin');
  t.same(entrance.faults, []);
});

t.test('long frames are compressed where stream and client agree, and stay in order', async t => {
  const entrance = await open(t);
  const long = 'abcdefghijklmnopqrstuvwxyz'.repeat(8_000);
  const texts = ['before', long, 'after'];
  entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open(client) {
      for (const text of texts) client.send(text, { compresses: client.query.has('small') });
      return undefined;
    },
  });
  for (const [query, perMessageDeflate, isSmall] of [
    ['?small', true, true],
    ['?small', false, false],
    ['', true, false],
  ] as const) {
    const socket = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a${query}`, { perMessageDeflate });
    t.teardown(() => socket.terminate());
    const received: string[] = [];
    socket.on('message', data => received.push(String(data)));
    let connection: Socket | undefined;
    socket.on('upgrade', response => {
      connection = response.socket;
    });
    await until(() => received.length === texts.length);
    t.same(received, texts);
    const { bytesRead = 0 } = connection ?? {};
    t.ok(bytesRead > 0);
    t.equal(bytesRead < long.length / 10, isSmall, `${bytesRead} bytes`);
  }
});

t.test('unknown paths and invalid handshakes are refused', async t => {
  const entrance = await open(t);
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: () => {} });
  entrance.http.addRoute('a', { method: 'GET', path: '/x', summary: 'x', handle: () => 1 });
  for (const path of ['/ws/unknown', '/ws/a//', '/ws/a/b', '/x', '/', '/ws/%61', '//ws/a']) {
    await t.rejects(dial(entrance, path).opened, /404/, path);
  }
  await t.rejects(
    dial(entrance, '/ws/a', { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' }).opened,
    /403/,
  );
  await dial(entrance, '/ws/a', { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost' }).opened;
  const other = 'GET /ws/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
  t.match(await entrance.raw(other), /^HTTP\/1\.1 404 /);
  for (const [method, headers, told] of [
    ['GET', '', /^HTTP\/1\.1 400 .*{"detail":"Missing or invalid Sec-WebSocket-Key header"}$/s],
    [
      'GET',
      `${KEY}Sec-WebSocket-Version: 99\r\n`,
      /^HTTP\/1\.1 400 .*\r\nSec-WebSocket-Version: 13.*{"detail":".*"}$/s,
    ],
    ['GET', `${KEY}${VERSION}Sec-WebSocket-Protocol: ,\r\n`, /^HTTP\/1\.1 400 .*{"detail":".*"}$/s],
    ['POST', `${KEY}${VERSION}`, /^HTTP\/1\.1 405 .*\r\nAllow: GET\r\n.*{"detail":"A stream is opened with GET"}$/s],
  ] as const) {
    const line = `${method} /ws/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`;
    t.match(await entrance.raw(`${line}${headers}\r\n`), told, `${method} ${headers}`);
  }
  t.throws(() => entrance.http.addStream('b', { path: '/ws/a', summary: 'b', open: () => {} }), /of b .* by a/);
});

t.test('a client may offer other protocols beside WebSocket', async t => {
  const entrance = await open(t);
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => void client.close(1000, 'seen') });
  for (const offers of ['h2c, websocket', 'WebSocket,h2c', 'h2c\r\nUpgrade: websocket']) {
    const lines = `GET /ws/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${offers}\r\n${KEY}${VERSION}\r\n`;
    const answer = await entrance.raw(lines);
    t.match(answer, /^HTTP\/1\.1 101 .*\r\nUpgrade: websocket\r\n.*seen$/s, offers);
  }
});

t.test('a stream needs a valid token as long as it is open', async t => {
  const entrance = await open(t, { pingMs: 50 });
  const tokens = new Map([
    ['tok&1', 'ann'],
    ['tok2', 'bob'],
  ]);
  const access = tokenAccess(tokens, detail => new Problem(401, detail));
  entrance.access = access;
  const names: (string | null)[] = [];
  const opened = (client: StreamClient) => void names.push(client.identity.username);
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: opened });
  entrance.http.addStream('a', { path: '/ws/open', summary: 'a', access: 'public', open: opened });
  t.same(await dial(entrance, '/ws/a').closed, { code: 1008, reason: 'Authentication required' });
  t.same(await dial(entrance, '/ws/a?token=wrong').closed, { code: 1008, reason: 'Invalid or expired token' });
  t.same(names, [], 'nothing was opened');
  const header = dial(entrance, '/ws/a', { Authorization: 'Bearer tok2' });
  t.equal((await header.closed).code, 1008, 'the token comes in the query only');
  const ann = dial(entrance, `/ws/a?token=${encodeURIComponent('tok&1')}`);
  const bob = dial(entrance, '/ws/a?token=tok2');
  const anybody = dial(entrance, '/ws/open');
  await until(() => names.length === 3);
  t.same(names.sort(), ['ann', 'bob', null].sort());

  tokens.delete('tok2');
  access.revoke();
  t.same(await bob.closed, { code: 1008, reason: 'Invalid or expired token' }, 'revoked while open');
  t.equal(ann.socket.readyState, WebSocket.OPEN);
  entrance.access = tokenAccess(new Map(), detail => new Problem(401, detail));
  t.equal((await ann.closed).code, 1008, 'a replaced access service is asked again');
  t.equal(anybody.socket.readyState, WebSocket.OPEN, 'public streams stay');
  entrance.access = {
    enabled: () => true,
    check: () => {
      throw new Problem(503, 'The users cannot be read');
    },
  };
  t.equal((await dial(entrance, '/ws/a?token=x').closed).code, 1013, '1008 is for bad credentials only');
  t.notOk(
    entrance.lines.some(line => /tok2|tok&1|tok%26/.test(line)),
    'no token in any log line',
  );
});

/** Adds the stream `/ws/a`, and returns a function that counts its clients. */
function countedStream(entrance: Awaited<ReturnType<typeof open>>): () => number {
  let served = 0;
  entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open: () => {
      served += 1;
      return () => {
        served -= 1;
      };
    },
  });
  return () => served;
}

t.test('large messages and too many clients are refused', async t => {
  const entrance = await open(t);
  const served = countedStream(entrance);
  const large = dial(entrance, '/ws/a');
  await large.opened;
  large.socket.send('x'.repeat(4096));
  large.socket.send('ping');
  await until(() => large.received.length === 1);
  large.socket.send('x'.repeat(4097));
  t.equal((await large.closed).code, 1009);
  await until(() => served() === 0);

  const peers = Array.from({ length: 128 }, () => dial(entrance, '/ws/a'));
  await until(() => served() === 128);
  const surplus = await dial(entrance, '/ws/a').closed;
  t.equal(surplus.code, 1013);
  peers[0]?.socket.close();
  await until(() => served() === 127);
  await dial(entrance, '/ws/a').opened;
  await until(() => served() === 128);
});

t.test('one network may take all places only while no other wants one', async t => {
  const entrance = await open(t);
  entrance.config = { dumb: { api_service: { trusted_proxies: ['127.0.0.1'] } } };
  const served = countedStream(entrance);
  const from = (address: string) => dial(entrance, '/ws/a', { 'X-Forwarded-For': address });
  const several = async (address: string, count: number, wanted: number): Promise<Peer[]> => {
    const peers = Array.from({ length: count }, () => from(address));
    await until(() => served() === wanted);
    await Promise.all(peers.map(({ opened }) => opened));
    return peers;
  };
  const early = await several('192.0.2.1', 4, 4);
  const flood = await several('192.0.2.2', 124, 128);
  t.equal((await from('192.0.2.2').closed).code, 1013, 'it has more than others already');
  const cut = Promise.race(flood.map(({ closed }) => closed));
  const [late] = await several('2001:db8::1', 1, 128);
  t.same(await cut, { code: 1013, reason: 'This stream is full, and others have fewer connections to it' });
  await several('2001:db8::2', 1, 128);
  const open_ = (peers: readonly (Peer | undefined)[]) =>
    peers.filter(peer => peer?.socket.readyState === WebSocket.OPEN).length;
  await until(() => open_(flood) === 122);
  t.equal(open_([...early, late]), 5, 'who had few keeps them');

  // When two networks want more than there is, each has half, and neither displaces the other.
  const others = Array.from({ length: 140 }, () => from('192.0.2.3'));
  await until(() => open_(others) + open_(flood) === 122);
  await until(() => others.every(({ socket }) => socket.readyState !== WebSocket.CONNECTING));
  await until(() => others.filter(({ socket }) => socket.readyState === WebSocket.CLOSED).length === 79);
  t.same([open_(others), open_(flood), open_([...early, late])], [61, 61, 5]);
});

t.test('a client that does not read is disconnected, and leaves nothing in the kernel', async t => {
  const entrance = await open(t, { pingMs: 50 });
  const head = ['GET /ws/a HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: websocket'];
  const key = Buffer.alloc(16).toString('base64');
  for (const [mib, what] of [
    [2, 'all of it in the kernel'],
    [32, 'more than the kernel takes'],
  ] as const) {
    let served: StreamClient | undefined;
    const withdraw = entrance.http.addStream('a', {
      path: '/ws/a',
      summary: 'a',
      open: client => {
        served = client;
        client.send('x'.repeat(mib * MIB));
      },
    });
    const raw = connect(entrance.port, '127.0.0.1').pause();
    t.teardown(() => raw.destroy());
    raw.write([...head, 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`, '', ''].join('\r\n'));
    await until(() => served?.signal.aborted === true);
    let bytes = 0;
    raw.on('data', data => {
      bytes += data.length;
    });
    const ended = new Promise(resolve => raw.once('error', resolve).once('end', resolve));
    raw.resume();
    await ended;
    t.ok(bytes < MIB, `${what}: what the client held itself, ${bytes} bytes`);
    withdraw();
  }
});

t.test('the limit of clients holds when the access of many is checked at once', async t => {
  const entrance = await open(t);
  const waiting: (() => void)[] = [];
  entrance.access = {
    enabled: () => true,
    check: () => new Promise(resolve => waiting.push(() => resolve({ username: 'ann' }))),
  };
  let served = 0;
  entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open: () => {
      served += 1;
    },
  });
  const peers = Array.from({ length: 140 }, () => dial(entrance, '/ws/a?token=x'));
  const refused: number[] = [];
  for (const { closed } of peers) void closed.then(({ code }) => refused.push(code));
  await until(() => waiting.length === 140);
  for (const answer of waiting) answer();
  await until(() => served + refused.length === 140);
  t.equal(served, 128);
  t.same(new Set(refused), new Set([1013]));
});

t.test('faults of a stream, and its withdrawal, close its clients', async t => {
  const entrance = await open(t);
  entrance.http.addStream('bad', {
    path: '/ws/throws',
    summary: 't',
    open: () => {
      throw new Error('no');
    },
  });
  entrance.http.addStream('bad', {
    path: '/ws/disposer',
    summary: 't',
    open: () => () => {
      throw new Error('no end');
    },
  });
  let disposed = 0;
  const withdraw = entrance.http.addStream('a', {
    path: '/ws/a',
    summary: 'a',
    open: client => {
      if (client.query.has('leave')) client.close(4000, 'x'.repeat(200));
      return () => {
        disposed += 1;
      };
    },
  });
  t.equal((await dial(entrance, '/ws/throws').closed).code, 1011);
  t.match(entrance.faults, [{ plugin: 'bad', place: 'stream', error: { message: 'no' } }]);
  const second = dial(entrance, '/ws/disposer');
  await second.opened;
  second.socket.close();
  await until(() => entrance.faults.length === 2);
  t.match(entrance.faults[1], { plugin: 'bad', place: 'stream', error: { message: 'no end' } });

  t.match(await dial(entrance, '/ws/a?leave').closed, { code: 4000, reason: 'x'.repeat(123) });
  await until(() => disposed === 1);
  const open_ = dial(entrance, '/ws/a');
  await open_.opened;
  withdraw();
  t.equal((await open_.closed).code, 1001);
  await until(() => disposed === 2);
  await t.rejects(dial(entrance, '/ws/a').opened, /404/);
});

t.test('clients are closed with 1001 when the host stops', async t => {
  const entrance = await openEntrance(testDir(t));
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: () => {} });
  const peer = dial(entrance, '/ws/a');
  await peer.opened;
  entrance.stopping = true;
  t.equal((await dial(entrance, '/ws/a').closed).code, 1001, 'new clients');
  t.equal((await dial(entrance, '/ws/gone').closed).code, 1001, 'of a stream that was withdrawn, too');
  const deaf = connect(entrance.port, '127.0.0.1');
  t.teardown(() => deaf.destroy());
  entrance.stopping = false;
  deaf.write(
    'GET /ws/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await new Promise(resolve => deaf.once('data', resolve));
  const cut = new Promise(resolve => deaf.once('close', resolve));
  await entrance.http.close(200);
  t.equal((await peer.closed).code, 1001);
  await t.resolves(cut, 'a client that does not answer the close is cut');
});
