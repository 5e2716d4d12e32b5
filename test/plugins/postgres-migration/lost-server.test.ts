// A server that ends during a query is reported as such, whatever the client's error says.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import t from 'tap';
import { failureOf } from '../../../plugins/postgres-migration/migration-fault.ts';
import { serverFault } from '../../../plugins/postgres-migration/transfer/server-fault.ts';
import { runQuery } from '../../../plugins/service-postgres/databases.ts';

/** `AuthenticationOk` and `ReadyForQuery` of the protocol. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

t.test('a server that ends after the login or during a query is reported', async t => {
  for (const endsAt of ['login', 'question'] as const) {
    const server = createServer(socket => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(WELCOME);
        if (endsAt === 'login') socket.destroySoon();
        else socket.once('data', () => socket.destroySoon());
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const asked = runQuery({ host: '127.0.0.1', port, user: 'keeper', password: 'x' }, { sql: 'SELECT 1' });
    const error = await asked.catch((reason: unknown) => reason);
    server.close();
    t.same(
      failureOf(error, 'schema'),
      { message: 'PostgreSQL takes no connections any more', code: 'migration.server', stage: 'schema' },
      `${endsAt}: ${error}`,
    );
  }
  const unusable = new Error('Client has encountered a connection error and is not queryable');
  t.match(failureOf(unusable, 'import'), { code: 'migration.server' });
  t.match(serverFault(unusable, { stage: 'import', label: 'main' }).message, /the connection was lost/);
  t.match(failureOf(new Error('another reason'), 'import'), { code: 'migration.failed', message: 'another reason' });
});
