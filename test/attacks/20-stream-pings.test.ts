// A client of a stream that asks for answers without end and reads none of them is cut off, before they fill the
// memory.
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import type { StreamClient } from '../../core/contract/stream.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { handshakeTo } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Masked with zeros, and as long as a control frame may be. */
const PING = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125, 'x')]);
const FLOOD = Buffer.concat(Array.from({ length: 8_000 }, () => PING));
const MOST_BYTES = 64 * MIB;

t.test('pings of a client that reads nothing', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  const clients: StreamClient[] = [];
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => void clients.push(client) });
  const socket = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  socket.write(handshakeTo('/ws/a'));
  const client = await until(() => clients[0], { what: 'the client' });
  let mostBytes = 0;
  for (let sent = 0; sent < MOST_BYTES && !client.signal.aborted; sent += FLOOD.length) {
    await new Promise<void>(done => socket.write(FLOOD, () => done()));
    mostBytes = Math.max(mostBytes, client.unsentBytes);
  }
  await until(() => client.signal.aborted, { what: 'the client to be cut off', timeoutMs: 10_000 });
  t.ok(mostBytes < 4 * MIB, `${Math.round(mostBytes / MIB)} MiB unsent at most`);

  const reader = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => reader.terminate());
  await once(reader, 'open');
  reader.ping('still there?');
  const [answer] = await once(reader, 'pong');
  t.equal(String(answer), 'still there?', 'one that reads is answered');
});

t.test('one answer stands for the pings that came before it was sent', async t => {
  const PINGS = 1_000;
  const ANSWER_BYTES = 64 * 1024;
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  const clients: StreamClient[] = [];
  const stream = { path: '/ws/a', summary: 'a', pong: 'x'.repeat(ANSWER_BYTES) };
  entrance.http.addStream('a', { ...stream, open: client => void clients.push(client) });
  const socket = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
  t.teardown(() => socket.destroy());
  socket.write(handshakeTo('/ws/a'));
  const client = await until(() => clients[0], { what: 'the client' });
  const ping = Buffer.from([0x81, 0x84, 0, 0, 0, 0, ...Buffer.from('ping')]);
  /** No frame, because it is not masked. */
  const end = Buffer.from([0x81, 0x00]);
  socket.write(Buffer.concat([...Array.from({ length: PINGS }, () => ping), end]));
  let mostBytes = 0;
  const isRead = () => {
    mostBytes = Math.max(mostBytes, client.unsentBytes);
    return client.signal.aborted;
  };
  await until(isRead, { what: 'the end to be read', intervalMs: 1 });
  t.ok(mostBytes > 0, 'the client reads nothing');
  t.ok(mostBytes < 2 * ANSWER_BYTES, `${mostBytes} bytes unsent at most`);
});
