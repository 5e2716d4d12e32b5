// The databases of services are created once, also when several ask for them at the same time, also beside one that the
// server refuses, and nobody waits for the attempts of others at a server that hangs.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { Logger } from '../../../core/contract/log.ts';
import { createDatabases } from '../../../plugins/service-postgres/databases.ts';
import type { ManagedServer } from '../../../plugins/service-postgres/managed-server.ts';
import { ServiceDatabases } from '../../../plugins/service-postgres/service-databases.ts';
import { startPostgres } from '../../support/postgres.ts';

t.test('several create the same databases at once', async t => {
  const { access, directory, session } = await startPostgres(t, ['logging_collector=on', 'log_filename=server.log']);
  const told: string[] = [];
  const log = { info: (text: string) => told.push(text) } as unknown as Logger;
  const databases = ['first', 'second "2"', 'third'];
  const create = () =>
    createDatabases({ ...access, databases }, { log, signal: new AbortController().signal, limitMs: 10_000 });
  await Promise.all([create(), create(), create(), create()]);
  await create();
  const { rows } = await (await session('postgres')).query('SELECT datname FROM pg_database');
  const names = rows.map(({ datname }) => datname);
  t.ok(
    databases.every(name => names.includes(name)),
    'all are there',
  );
  t.same(told.sort(), databases.map(name => `the database ${name} was created`).sort(), 'each was made by one of them');
  t.notMatch(await readFile(path.join(directory, 'data', 'log', 'server.log'), 'utf8'), /ERROR/);
});

t.test('one that the server refuses', async t => {
  const { access, session } = await startPostgres(t);
  const creation = { log: { info: () => undefined } as unknown as Logger, signal: new AbortController().signal };
  const databases = ['before', '', 'after'];
  await t.rejects(createDatabases({ ...access, databases }, { ...creation, limitMs: 10_000 }), /zero-length/);
  const { rows } = await (await session('postgres')).query('SELECT datname FROM pg_database');
  const names = rows.map(({ datname }) => datname);
  t.ok(names.includes('before') && names.includes('after'), 'the others are made');
});

t.test('services that start together while the server hangs', async t => {
  const sockets = new Set<Socket>();
  const hanging = createServer(socket => void sockets.add(socket.on('error', () => undefined)));
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });
  const { port } = hanging.address() as AddressInfo;
  const errors: string[] = [];
  const log = { error: (text: string) => errors.push(text) };
  const host = { log, signal: new AbortController().signal } as unknown as Host;
  const wanted = { host: '127.0.0.1', port, user: 'keeper', password: 'p', databases: ['one'] };
  const databases = new ServiceDatabases(host, { server: () => wanted } as unknown as ManagedServer);
  await Promise.all([databases.create(0), databases.create(0), databases.create(0)]);
  t.equal(errors.length, 1, 'they share one attempt');
  wanted.databases.push('two');
  await Promise.all([databases.create(0), databases.create(0)]);
  t.equal(errors.length, 2, 'the next is an attempt of its own');
});
