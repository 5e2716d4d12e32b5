// A proxy in front of the server that closes idle connections: the history stays with PostgreSQL.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import {
  ACTIVATION,
  CHOSEN,
  directoryWith,
  line,
  query,
  startMetrics,
  storage,
  YESTERDAY,
} from '../../support/metrics-postgres.ts';
import { ownLog } from '../../support/own-log.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('closed idle connections are replaced', async t => {
  const block = await postgresBlock(t);
  const clients = new Set<Socket>();
  const idle = new Set<Socket>();
  /** Sockets that the proxy has closed on the server's side only, so that their clients do not know. */
  const forgotten = new Set<Socket>();
  const server = createServer(client => {
    const upstream = connect(block.port, '127.0.0.1');
    let isLoggedIn = false;
    clients.add(client);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clients.delete(client);
        idle.delete(client);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', () => {
      idle.delete(client);
      if (forgotten.has(client)) client.resetAndDestroy();
    });
    upstream.on('data', bytes => {
      // ReadyForQuery, outside of a transaction.
      if (bytes.subarray(-6).toString('latin1') !== 'Z\0\0\0\x05I') return;
      // After a login comes the statement for which the connection was made.
      if (isLoggedIn) idle.add(client);
      isLoggedIn = true;
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  const port = await freePort();
  const command = block.command.map(word => word.replace('{port}', String(block.port)));
  const configDir = await directoryWith(
    t,
    Array.from({ length: 50 }, (_, index) => line(YESTERDAY + index * 60)),
  );
  const app = await startMetrics(t, { postgres: { ...block, port, command }, configDir, metrics: CHOSEN });
  const activation = app.post(ACTIVATION);
  // The proxy listens only now: before, the start of the server would have found the port taken.
  await until(() => query(block, 'SELECT 1', 'postgres'), { what: 'the server itself' });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { status, text } = await activation;
  t.equal(status, 200, text);
  for (let round = 0; round < 3; round += 1) {
    await app.get('/metrics/history?limit=5');
    // While the host uses one connection, it may be about to use the others.
    await until(() => idle.size > 0 && idle.size === clients.size, { what: 'connections that are idle' });
    const closed = [...idle];
    for (const socket of closed) socket.destroy();
    // The host may have opened another connection by now.
    await until(() => !closed.some(socket => idle.has(socket)), { what: 'the idle connections to end' });
    const answer = await app.get('/metrics/history?full=true');
    t.equal(answer.body.items.length, 50);
    t.match(await storage(app), { active_provider: 'postgresql', fallback_active: false });
  }
  await until(() => idle.size > 0, { what: 'a connection that is idle' });
  for (const socket of idle) {
    socket.unpipe().resume();
    forgotten.add(socket);
  }
  const answer = await app.get('/metrics/history?full=true');
  t.equal(answer.body.items.length, 50);
  t.match(await storage(app), { active_provider: 'postgresql', fallback_active: false });
  const told = (await ownLog(app)).filter(text => text.includes('is read from SQLite'));
  t.equal(told.length, 1, 'before the activation alone');
  // A server that is gone is noticed nevertheless.
  await app.post('/process/stop-service', { process_name: 'PostgreSQL' });
  await until(async () => (await storage(app)).fallback_active === true, { what: 'the end of the server to be told' });
});
