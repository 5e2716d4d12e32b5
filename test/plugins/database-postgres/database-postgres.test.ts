// The health of databases on a real server, in both modes: its counters, blocked locks, and a silent server.
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import pg from 'pg';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { postgresBlock } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

const PLUGINS = ['database-postgres', 'service-postgres', 'services', 'process', 'config'];

async function lookAt(app: TestHost, name: string): Promise<Body> {
  return until(async () => {
    const { status, body, text } = await app.get(`/metrics/database-health?refresh=true&process_name=${name}`);
    if (status !== 200) throw new Error(text);
    return body.services[0]?.collected_at && { ...body.services[0], text };
  });
}

const settings = (services: object) => ({ dumb: { metrics: { database_health: { enabled: true, services } } } });

t.test('a running server is examined in both modes', async t => {
  const server = await postgresBlock(t);
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      postgres: {
        ...server,
        enabled: true,
        password: 'kept-secret',
        databases: [
          // These two name no database.
          null,
          { name: '', enabled: true },
          { name: 'postgres', enabled: true },
          { name: 'missing', enabled: true },
        ],
      },
      seerr: {
        instances: {
          Default: { enabled: true, process_name: 'Requests', postgres_enabled: true, postgres_database: 'postgres' },
        },
      },
      ...settings({ postgres: { enabled: true, mode: 'enhanced' }, 'seerr:Default': true }),
    },
  });
  t.teardown(() => app.stop());
  const reach = { host: '127.0.0.1', port: server.port, user: 'keeper', database: 'postgres' };
  const started = await app.post('/process/start-service', { process_name: 'PostgreSQL' });
  t.equal(started.status, 200, started.text);
  const open = async () => {
    const client = new pg.Client(reach);
    client.on('error', () => undefined);
    await client.connect();
    t.teardown(() => client.end());
    return client;
  };
  const holder = await until(() => open());
  await until(async () => (await app.get('/process/service-status?process_name=PostgreSQL')).body.status === 'running');

  const service = await lookAt(app, 'PostgreSQL');
  t.match(service, { provider: 'postgresql', mode: 'enhanced', pressure: String });
  t.match(service.databases[0], {
    role: 'cluster database',
    name: 'postgres',
    exists: true,
    enhanced_probe: true,
    deadlocks: 0,
    deadlocks_delta: 0,
    rollbacks_delta: 0,
    temp_bytes_delta: 0,
    lock_waiters: 0,
    storage: { mount_point: String },
  });
  for (const member of ['size_bytes', 'connections', 'transactions_committed', 'blocks_hit', 'temp_files', 'probe_ms'])
    t.type(service.databases[0][member], 'number', member);
  t.match(service.databases[1], { name: 'missing', exists: false, error: /no such database/ });

  await holder.query('CREATE TABLE shelf (id int)');
  await holder.query('BEGIN; LOCK TABLE shelf');
  const waiter = await open();
  const waiting = waiter.query('SELECT * FROM shelf').catch(() => undefined);
  const locked = await until(async () => {
    const found = await lookAt(app, 'PostgreSQL');
    return found.databases[0].lock_waiters > 0 && found;
  });
  t.equal(locked.databases[0].lock_waiters, 1);
  t.ok(locked.reasons.some((reason: string) => /wait for locks/.test(reason)));
  await holder.query('COMMIT');
  await waiting;

  await holder.query("CREATE TABLE other (id int); SET deadlock_timeout = '10ms'");
  await holder.query('BEGIN; LOCK TABLE shelf');
  await waiter.query('BEGIN; LOCK TABLE other');
  const ends = await Promise.allSettled([
    holder.query('LOCK TABLE other').finally(() => holder.query('ROLLBACK')),
    waiter.query('LOCK TABLE shelf').finally(() => waiter.query('ROLLBACK')),
  ]);
  t.same(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'the server ends one of the two');
  const deadlocked = await until(async () => {
    const found = await lookAt(app, 'PostgreSQL');
    return found.databases[0].deadlocks > 0 && found;
  });
  t.match(deadlocked.databases[0], { deadlocks: 1, deadlocks_delta: 1 });
  t.ok(deadlocked.reasons.some((reason: string) => /new deadlocks/.test(reason)));

  const standard = await lookAt(app, 'Requests');
  t.match(standard, { provider: 'postgresql', mode: 'standard', pressure: 'observing', score: 0 });
  t.match(standard.databases, [
    { role: 'main', name: 'postgres', exists: null, enhanced_probe: false, notice: /enhanced/ },
  ]);
  t.notMatch(service.text + standard.text, 'kept-secret');
});

t.test('a server that accepts connections and never answers is reported', async t => {
  const sockets: Socket[] = [];
  const silent = createServer(socket => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      aiostreams: {
        enabled: true,
        process_name: 'Streams',
        command: ['true'],
        database_uri: `postgresql://me:kept-secret@127.0.0.1:${port}/shelf`,
      },
      ...settings({ aiostreams: { enabled: true, mode: 'enhanced' } }),
    },
  });
  t.teardown(() => app.stop());
  const service = await lookAt(app, 'Streams');
  t.match(service.databases, [{ name: 'shelf', exists: null, probe_error: String }]);
  t.ok(service.score >= 20);
  t.notMatch(service.text, 'kept-secret');
  t.equal((await app.get('/metrics')).status, 200);
});

t.test('a database that a file of a service names is examined', async t => {
  const dir = testDir(t, {
    'config.yaml': 'database:\n  type: postgres\n  dsn: postgres://me:kept-secret@db.example/nzb\n',
  });
  const app = await startHost({
    plugins: [...PLUGINS, 'service-altmount', 'config-files', 'format-yaml'],
    config: {
      altmount: { enabled: true, process_name: 'Mount', config_dir: dir, config_file: path.join(dir, 'config.yaml') },
      ...settings({ altmount: true }),
    },
  });
  t.teardown(() => app.stop());
  const server = await lookAt(app, 'Mount');
  t.match(server, { provider: 'postgresql', databases: [{ role: 'main', name: 'nzb' }] });
  t.notMatch(server.text, 'kept-secret');
  await writeFile(path.join(dir, 'config.yaml'), 'database:\n  type: sqlite\n  path: other.db\n');
  t.equal((await app.post('/config', { updates: { altmount: { port: 8_099 } } })).status, 200);
  const file = await lookAt(app, 'Mount');
  t.match(file, { provider: 'sqlite', databases: [{ role: 'main', path: path.join(dir, 'other.db') }] });
});
