// R20: connections whose other end is gone without a word are found: by protocol pings, and by application pings where
// a proxy answers the protocol's.
import { connect, createServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { StreamClient } from '../../core/contract/stream.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { until } from '../support/until.ts';

interface Link {
  readonly port: number;
  /** From now on bytes vanish in both directions, and nobody is told. */
  cut(): void;
}

/** A real TCP hop between client and server. */
async function openLink(t: Test, targetPort: number): Promise<Link> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const join = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('error', () => undefined);
    from.on('data', chunk => {
      if (!isCut) to.write(chunk);
    });
    from.on('close', () => {
      if (!isCut) to.destroy();
    });
  };
  const server: Server = createServer(near => {
    const far = connect(targetPort, '127.0.0.1');
    join(near, far);
    join(far, near);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as { port: number }).port,
    cut() {
      isCut = true;
    },
  };
}

/** The time between pings is one in which a busy machine answers, too. */
async function openStream(t: Test, pingMs: number) {
  const entrance = await openEntrance(testDir(t), { pingMs });
  t.teardown(() => entrance.close());
  const clients: StreamClient[] = [];
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => void clients.push(client) });
  return { entrance, clients };
}

t.test('a client whose network died is dropped, one that answers stays', async t => {
  const { entrance, clients } = await openStream(t, 1_000);
  const link = await openLink(t, entrance.port);
  const dead = new WebSocket(`ws://127.0.0.1:${link.port}/ws/a`);
  dead.on('error', () => undefined);
  t.teardown(() => dead.terminate());
  await until(() => clients.length === 1);
  const alive = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => alive.terminate());
  let pings = 0;
  alive.on('ping', () => {
    pings += 1;
  });
  await until(() => clients.length === 2);
  await until(() => pings >= 3);
  t.equal(clients[0]?.signal.aborted, false, 'it stays while the link works');
  link.cut();
  const before = pings;
  await until(() => clients[0]?.signal.aborted);
  // The answer to the ping before may have been on its way when the link was cut.
  t.ok(pings - before >= 1, 'only after two pings went unanswered');
  t.equal(dead.readyState, WebSocket.OPEN, 'the client was told nothing');
  t.equal(clients[1]?.signal.aborted, false);
});

t.test('a proxy that answers protocol pings for a dead client cannot keep it open', async t => {
  const { entrance, clients } = await openStream(t, 200);
  // The proxy ends the client's connection, and answers the server's pings all by itself.
  const proxy = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => proxy.terminate());
  await new Promise(resolve => proxy.once('open', resolve));
  const quiet = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => quiet.terminate());
  await until(() => clients.length === 2);
  proxy.send('{"type":"ping"}');
  const closed = new Promise(resolve => proxy.once('close', resolve));
  await closed;
  t.equal(clients.filter(client => client.signal.aborted).length, 1, 'a client that pinged once must go on');
  let pings = 0;
  quiet.on('ping', () => {
    pings += 1;
  });
  await until(() => pings >= 12);
  t.equal(quiet.readyState, WebSocket.OPEN, 'a client that never pings by itself is judged by its pongs alone');
});

t.test('a client finds a dead server by its application ping', async t => {
  const { entrance, clients } = await openStream(t, 60_000);
  const link = await openLink(t, entrance.port);
  const client = new WebSocket(`ws://127.0.0.1:${link.port}/ws/a`);
  client.on('error', () => undefined);
  t.teardown(() => client.terminate());
  let pongs = 0;
  client.on('message', data => {
    if (String(data) === 'pong') pongs += 1;
  });
  await until(() => clients.length === 1 && client.readyState === WebSocket.OPEN);
  client.send('ping');
  await until(() => pongs === 1);
  link.cut();
  client.send('ping');
  const witness = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => witness.terminate());
  await new Promise(resolve => witness.once('open', resolve));
  witness.send('ping');
  await new Promise(resolve => witness.once('message', resolve));
  t.equal(pongs, 1, 'no answer comes through while the server answers everybody else');
});
