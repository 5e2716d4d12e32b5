// A server that a service names for its database may be anything: what it sends fills no memory, and it gets no
// password for the asking.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import t from 'tap';
import { secretiveClient } from '../../core/kit/pg-client.ts';
import { startHost } from '../support/host.ts';
import { until } from '../support/until.ts';

/** Begins the message of an error, of 2 GiB, and sends of it what is taken. */
function flood(socket: Socket): void {
  const header = Buffer.from('E\0\0\0\0');
  header.writeUInt32BE(0x7f_ff_ff_ff, 1);
  const chunk = Buffer.alloc(64 * 1024);
  const more = (): void => {
    while (socket.writable && socket.write(chunk));
  };
  socket.on('error', () => undefined).on('drain', more);
  socket.once('data', () => {
    socket.write(header);
    more();
  });
}

t.test('a message without end', async t => {
  const server = createServer(flood).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const app = await startHost({
    plugins: ['database-postgres', 'service-postgres', 'services', 'process', 'config'],
    config: {
      aiostreams: {
        enabled: true,
        process_name: 'Streams',
        command: ['true'],
        database_uri: `postgresql://me:kept-secret@127.0.0.1:${port}/shelf`,
      },
      dumb: {
        metrics: { database_health: { enabled: true, services: { aiostreams: { enabled: true, mode: 'enhanced' } } } },
      },
    },
  });
  t.teardown(() => app.stop());
  const [service] = await until(async () => {
    const { body } = await app.get('/metrics/database-health?refresh=true&process_name=Streams');
    return body.services?.[0]?.collected_at && body.services;
  });
  t.match(service.databases, [{ name: 'shelf', exists: null, probe_error: /sends more than/ }]);
});

t.test('a server that asks for the password in clear text', async t => {
  const heard: Buffer[] = [];
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', data => heard.push(data));
    // AuthenticationCleartextPassword
    socket.once('data', () => socket.write(Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1')));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const address = { host: '127.0.0.1', port, user: 'me', password: 'kept-secret', database: 'shelf' };

  const open = {
    client: new (secretiveClient(pg.Client))(address),
    pool: new pg.Pool({ ...address, Client: secretiveClient(pg.Client) }),
  };
  for (const connector of Object.values(open)) {
    await t.rejects(connector.connect(), { code: 'ECLEARTEXT', message: /scram-sha-256/ });
  }
  t.ok(heard.length >= 2, 'each has said who it is');
  t.notOk(Buffer.concat(heard).includes('kept-secret'));
});
