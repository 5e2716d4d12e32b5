// The databases of services are created once, also when several ask for them at the same time, and also beside one that
// the server refuses.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { Logger } from '../../../core/contract/log.ts';
import { createDatabases } from '../../../plugins/service-postgres/databases.ts';
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
