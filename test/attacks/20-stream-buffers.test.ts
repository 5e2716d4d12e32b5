// Many clients of a stream that read nothing share one budget of memory, and one that reads gets everything.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { WebSocket } from 'ws';
import type { StreamClient } from '../../core/contract/stream.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { handshakeTo } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const SILENT = 60;
const ROUNDS = 14;
/** The budget of 32 MiB, and a last message for each. */
const MOST_BYTES = (32 + SILENT * 1.25) * MIB;

t.test('clients that read nothing', async t => {
  const entrance = await openEntrance(testDir(t));
  t.teardown(() => entrance.close());
  const clients: StreamClient[] = [];
  entrance.http.addStream('a', { path: '/ws/a', summary: 'a', open: client => void clients.push(client) });
  for (let count = 0; count < SILENT; count += 1) {
    const socket = connect(entrance.port, '127.0.0.1').on('error', () => undefined);
    t.teardown(() => socket.destroy());
    socket.write(handshakeTo('/ws/a'));
  }
  await until(() => clients.length === SILENT, { what: 'every client' });
  const reader = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/a`);
  t.teardown(() => reader.terminate());
  let received = 0;
  reader.on('message', () => {
    received += 1;
  });
  await once(reader, 'open');
  await until(() => clients.length === SILENT + 1, { what: 'the reader' });
  const message = 'x'.repeat(MIB);
  let mostBytes = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const client of clients) {
      client.send(message);
      await turn();
    }
    const livingBytes = clients.filter(({ signal }) => !signal.aborted).map(({ unsentBytes }) => unsentBytes);
    mostBytes = Math.max(
      mostBytes,
      livingBytes.reduce((sum, bytes) => sum + bytes, 0),
    );
    await until(() => received === round + 1, { what: 'the reader to get the message' });
  }
  t.ok(mostBytes <= MOST_BYTES, `${Math.round(mostBytes / MIB)} MiB unsent at most`);
  t.notOk(clients.at(-1)?.signal.aborted, 'the one that reads stays');
});
