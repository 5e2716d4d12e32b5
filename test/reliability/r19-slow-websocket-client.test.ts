// R19: a client that stops reading costs a bounded amount of memory, is closed with 4409, and delays nobody else.
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'ws';
import type { StreamClient } from '../../core/contract/stream.ts';
import { testDir } from '../support/directory.ts';
import { openEntrance } from '../support/entrance.ts';
import { handshakeTo } from '../support/raw-http.ts';
import { until } from '../support/until.ts';

const limitBytes = 4 * 1024 * 1024;
const messageBytes = 64 * 1024;
const handshake = handshakeTo('/ws/flood?slow');

for (const readsAfterwards of [false, true]) {
  t.test(readsAfterwards ? 'it reads again: it learns why' : 'it never reads again: it is cut', async t => {
    const entrance = await openEntrance(testDir(t));
    t.teardown(() => entrance.close());
    const clients = new Map<string, StreamClient>();
    let disposed = 0;
    entrance.http.addStream('a', {
      path: '/ws/flood',
      summary: 'flood',
      open(client) {
        clients.set(client.query.has('slow') ? 'slow' : 'quick', client);
        return () => {
          disposed += 1;
        };
      },
    });
    const slow = connect(entrance.port, '127.0.0.1');
    t.teardown(() => slow.destroy());
    slow.on('error', () => undefined);
    slow.write(handshake);
    slow.pause();
    const quick = new WebSocket(`ws://127.0.0.1:${entrance.port}/ws/flood`);
    t.teardown(() => quick.terminate());
    let quickMessages = 0;
    quick.on('message', () => {
      quickMessages += 1;
    });
    await until(() => clients.size === 2);

    const message = Buffer.alloc(messageBytes, 'x');
    const client = clients.get('slow') as StreamClient;
    let mostUnsent = 0;
    let sent = 0;
    while (!client.signal.aborted && sent < 10_000) {
      client.send(message);
      mostUnsent = Math.max(mostUnsent, client.unsentBytes);
      clients.get('quick')?.send(message);
      sent += 1;
      await new Promise(resolve => setImmediate(resolve));
    }
    t.equal(client.signal.aborted, true, 'given up');
    t.equal(disposed, 1, 'what the stream opened for it ended');
    t.ok(mostUnsent > limitBytes, 'not before the limit');
    t.ok(mostUnsent < limitBytes + 2 * messageBytes, `at most one message more: ${mostUnsent}`);
    const unsent = client.unsentBytes;
    for (let i = 0; i < 100; i++) client.send(message);
    t.ok(client.unsentBytes <= unsent + 200, 'and nothing is queued for it any more');
    await until(() => quickMessages >= sent);
    t.equal(quickMessages, sent, 'the other client got everything');

    if (readsAfterwards) {
      const received: Buffer[] = [];
      slow.on('data', chunk => received.push(chunk));
      slow.resume();
      const code = Buffer.from([4409 >> 8, 4409 & 0xff]);
      const frame = await until(() => received.length > 0 && Buffer.concat(received.slice(-2)).indexOf(code) + 1);
      t.ok(frame, 'the close frame with 4409 arrives');
    } else {
      const released = until(() => client.unsentBytes === 0);
      await t.resolves(released, 'its connection was cut and its queue released');
    }
    t.same(entrance.faults, []);
  });
}
