// The health of databases on a running host: modes, logs that grow and rotate, cached results, and databases of third
// parties.
import { execFileSync } from 'node:child_process';
import { appendFile, chmod, chown, rename, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import t from 'tap';
import {
  filmPlace,
  firstDatabase,
  freshHealth,
  give,
  isRoot,
  makeDatabase,
  startHealth,
} from '../../support/database-health.ts';
import { startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const DAEMON = 1;

t.test('the standard mode opens no database, and switches take effect at once', async t => {
  const { main, block } = await filmPlace(t);
  makeDatabase(main).close();
  await give(main);
  const app = await startHealth(t, block, { mode: 'standard' });
  const database = await firstDatabase(app);
  t.match(database, { exists: true, enhanced_probe: false, size_bytes: 8_192 });
  t.notOk('page_count' in database);
  const save = (value: object) => app.post('/config', { updates: { dumb: { metrics: { database_health: value } } } });
  t.equal((await save({ services: { 'radarr:Default': { mode: 'enhanced' } } })).status, 200);
  const known = (await app.get('/metrics')).body.database_health.services[0];
  t.equal(known.pressure, 'collecting', 'what was found in another mode does not count');
  t.same(known.databases, []);
  t.match(await firstDatabase(app), { page_count: 2 });
  t.equal((await save({ enabled: false })).status, 200);
  t.match((await app.get('/metrics/database-health')).body, {
    enabled: false,
    supported_count: 1,
    monitored_count: 0,
    services: [{ pressure: 'disabled', monitoring_enabled: false, databases: [], recommendation: /Switch on/ }],
  });
  t.equal((await save({ interval_sec: 3 })).status, 400);
  t.equal((await save({ services: { 'radarr:Default': true }, enabled: true })).status, 200, 'a plain switch');
  t.match(await freshHealth(app), { mode: 'standard', monitoring_enabled: true });
  for (const [value, isOn] of [
    [0, false],
    ['yes', true],
    ['No', false],
    [1, true],
    ['', false],
  ] as const) {
    t.equal((await save({ services: { 'radarr:Default': value } })).status, 200, `the switch ${value}`);
    t.equal((await freshHealth(app)).monitoring_enabled, isOn);
  }
  t.equal((await save({ services: { 'radarr:Default': [] } })).status, 400, 'a list is no switch');
});

t.test('a database that only the user of its service may read is read', { skip: !isRoot }, async t => {
  const { dir, main, block } = await filmPlace(t);
  makeDatabase(main).close();
  for (const file of [main, dir]) await chown(file, DAEMON, DAEMON);
  await chmod(dir, 0o700);
  const services = { 'radarr:Default': { enabled: true, mode: 'enhanced' } };
  const own = { ...block, command: ['sleep', '600'], user: 'daemon' };
  const app = await startHost({
    plugins: ['database-health', 'services', 'config', 'process'],
    config: {
      radarr: { instances: { Default: own } },
      dumb: { metrics: { database_health: { enabled: true, services } } },
    },
  });
  t.teardown(() => app.stop());
  const database = await until(() => firstDatabase(app), { what: 'a reading once the service runs' });
  t.match(database, { exists: true, page_count: 2, probe_error: undefined });
});

t.test('an unfit setting affects only itself, and can be corrected', async t => {
  const services = {
    words: { enabled: 'yes', mode: 'enhanced' },
    wrong: { enabled: true, mode: 'ENHANCED' },
    list: [],
    fine: { enabled: true },
  };
  const app = await startHost({
    plugins: ['database-health', 'config'],
    config: { dumb: { metrics: { database_health: { services } } } },
  });
  t.teardown(() => app.stop());
  const inForce = async () => (await app.get('/config')).body.dumb.metrics.database_health.services;
  const { words, fine, list } = await inForce();
  t.match([words.enabled, words.mode, fine.enabled, list], [true, 'enhanced', true, undefined]);
  const save = (value: object) =>
    app.post('/config', { updates: { dumb: { metrics: { database_health: { services: value } } } } });
  for (const [name, member] of [
    ['list', { enabled: true, mode: 'ENHANCED' }],
    ['new', { mode: 'ENHANCED' }],
  ] as const)
    t.match(await save({ [name]: member }), {
      status: 400,
      body: { detail: new RegExp(`services\\.${name}\\.mode: `) },
    });
  t.equal((await save({ wrong: { enabled: false } })).status, 200, 'another member of what does not fit');
  t.equal((await save({ list: { enabled: true } })).status, 200);
  t.equal((await inForce()).list.enabled, true);
});

t.test('only new lines of a log count, also after a rotation', async t => {
  const { main, log, block } = await filmPlace(t);
  makeDatabase(main).close();
  const old = Date.now() / 1_000 - 7_200;
  await writeFile(log, 'SQLITE_BUSY\nall is well\nThe DATABASE IS LOCKED\n');
  await utimes(log, old, old);
  const app = await startHealth(t, block, { mode: 'standard' }, { log_tail_bytes: 16_384 });
  const begin = await freshHealth(app);
  t.match(begin.log_signals, { locked: 1, busy: 1, timeout: 0, io_error: 0, deadlock: 0 });
  t.match(
    begin,
    { score: 0, log_source: { available: true, path: log, scanned_through: 47 } },
    'what is old counts no more',
  );
  t.ok(Math.abs(begin.log_source.last_seen.locked - old) < 2, 'and is dated by the file');

  await appendFile(log, 'database timed out\ndisk I/O er');
  const grown = await freshHealth(app);
  t.match(grown.log_signals, { locked: 1, busy: 1, timeout: 1, io_error: 0 });
  t.equal(grown.score, 25);
  await appendFile(log, 'ror\n');
  t.match((await freshHealth(app)).log_signals, { timeout: 1, io_error: 1 }, 'a line is never split');
  t.match((await freshHealth(app)).log_signals, { timeout: 1, io_error: 1 }, 'and counts once');

  await appendFile(log, `deadlock detected\n${'x\n'.repeat(10_000)}`);
  t.match((await freshHealth(app)).log_signals, { deadlock: 0, locked: 1 }, 'of too much only the end is read');

  await rename(log, `${log}.1`);
  await writeFile(log, 'deadlock detected\n');
  t.match(
    (await freshHealth(app)).log_signals,
    { locked: 0, busy: 0, timeout: 0, io_error: 0, deadlock: 1 },
    'a new log',
  );
  await truncate(log, 0);
  t.match((await freshHealth(app)).log_signals, { deadlock: 0 }, 'an emptied one');

  execFileSync('rm', [log]);
  await symlink('/etc/passwd', log);
  t.match((await freshHealth(app)).log_source, { available: false, error: String }, 'no link is followed');
});

t.test('a result is cached, and shared by concurrent requests', async t => {
  const { main, block } = await filmPlace(t);
  makeDatabase(main).close();
  await give(main);
  const app = await startHealth(t, block);
  const known = (await freshHealth(app)).collected_at;
  const again = await Promise.all([1, 2, 3].map(() => app.get('/metrics/database-health')));
  for (const { body } of again) t.equal(body.services[0].collected_at, known);
  const renewed = await Promise.all([1, 2, 3].map(() => app.get('/metrics/database-health?refresh=1')));
  const times = new Set(renewed.map(({ body }) => body.services[0].collected_at));
  t.equal(times.size, 1, 'who asks at one time shares a look');
  t.notOk(times.has(known));
});

t.test('a third party can contribute another kind of database', async t => {
  const app = await startWithPlugins(
    t,
    {
      ledger: {
        more: "needs: ['database-health'],",
        setup: `
          host.contribute('database.stores', 'ledger', { configKey: 'bookkeeper', stores: async () => [{ engine: 'ledger', role: 'books', name: 'b' }] })
          host.contribute('database.probe', 'ledger', { provider: 'ledger', probe: async ({ stores, mode, service }) =>
            stores.map(({ role, name }) => ({ role, name, exists: true, probeMs: 300, pagesTurned: 7, notice: 'see postgres://me:hidden@db/x', deep: { why: ['password=hidden2 ' + 'x'.repeat(900)] }, mode, of: service.processName })) })
          host.contribute('database.stores', 'broken', { configKey: 'broken', stores: async () => [{ engine: 'bad', role: 'main' }] })
          host.contribute('database.probe', 'bad', { provider: 'bad', probe: async () => { throw new Error('password=hunter2 was refused') } })
          host.route({ method: 'GET', path: '/kept', summary: 'What is kept', access: 'public', async handle () {
            const sampler = host.find('metrics.sampler')
            return sampler.kept(await sampler.sample(0))
          } })`,
      },
    },
    {
      shipped: ['config', 'metrics', 'database-health'],
      config: {
        bookkeeper: { enabled: true, process_name: 'Books', command: ['true'] },
        broken: { enabled: true, process_name: 'Broken', command: ['true'] },
        dumb: {
          metrics: { database_health: { enabled: true, services: { bookkeeper: true, broken: { enabled: true } } } },
        },
      },
    },
  );
  const { body, text } = await app.get('/metrics/database-health?refresh=yes');
  t.match(body, { supported_count: 2, monitored_count: 2, pressure_counts: { moderate: 1, unavailable: 1 } });
  const [books, broken] = body.services;
  t.match(books, { id: 'bookkeeper', instance_name: null, provider: 'ledger', score: 20, pressure: 'moderate' });
  t.match(books.databases, [
    { role: 'books', name: 'b', exists: true, pages_turned: 7, mode: 'standard', of: 'Books' },
  ]);
  t.match(broken.databases, [{ role: 'main', exists: null, error: String }]);
  t.notMatch(text, /hidden|hunter2/, 'no credential is told');
  t.ok(books.databases[0].deep.why[0].length <= 240);
  const { database_health: kept } = (await app.get('/kept')).body;
  t.match(kept, {
    monitored_count: 2,
    services: [{ id: 'bookkeeper', databases: [{ role: 'books', probe_ms: 300 }] }, Object],
  });
  t.same(Object.keys(kept.services[0].databases[0]).sort(), ['exists', 'name', 'probe_ms', 'role']);
  t.notOk('recommendation' in kept.services[0]);
  t.notOk('log_source' in kept.services[0]);
});

t.test('a plugin that is slow to name its databases delays no metrics', async t => {
  const app = await startWithPlugins(
    t,
    {
      late: {
        more: "needs: ['database-health', 'metrics'],",
        setup: `host.contribute('database.stores', 'late', { configKey: 'bookkeeper', stores: () => new Promise(() => {}) })`,
      },
    },
    {
      shipped: ['config', 'metrics', 'database-health'],
      config: { bookkeeper: { enabled: true, process_name: 'Books', command: ['true'] } },
    },
  );
  t.match((await app.get('/metrics')).body.database_health, { supported_count: 0 });
  const row = (name: string) => app.host.plugins().find(plugin => plugin.name === name);
  await until(() => row('late')?.errors.contribution !== undefined);
  t.same(row('database-health')?.errors, {}, 'who waits for it is not blamed');
});

t.test('databases are examined periodically, but not while a service starts', async t => {
  const app = await startWithPlugins(
    t,
    {
      brake: {
        more: "needs: ['process'],",
        setup: `
          let release
          const released = new Promise(resolve => { release = resolve })
          host.tap('process.prepare', async plan => { await released; return plan })
          host.route({ method: 'POST', path: '/release', summary: 'Lets starts go on', access: 'public', handle: () => { release(); return {} } })
          host.contribute('database.stores', 'films', { configKey: 'films', stores: async () => [{ engine: 'append-log', role: 'log' }] })`,
      },
    },
    {
      shipped: ['config', 'process', 'database-health'],
      config: {
        films: { enabled: false, process_name: 'Films', command: ['sleep', '1000'] },
        dumb: { metrics: { database_health: { enabled: true, services: { films: true } } } },
      },
    },
  );
  t.equal((await app.get('/process/capabilities')).body.database_health_metrics, true);
  const told = async () => (await app.get('/metrics')).body.database_health.services[0];
  const starting = app.post('/process/start-service', { process_name: 'Films' });
  // The configuration does not enable the service, which counts because it was started by hand.
  const before = await until(async () => {
    const service = await told();
    return service?.pressure === 'observing' && service;
  });
  t.match(before, { score: 0, collected_at: null, databases: [], recommendation: /while the service starts/ });
  await app.get('/metrics/database-health?refresh=true');
  t.equal((await told()).collected_at, null, 'not on request either');
  await app.post('/release');
  t.equal((await starting).status, 200);
  const after = await until(async () => {
    const service = await told();
    return service.collected_at !== null && service;
  });
  t.match(after, { provider: 'append-log', pressure: 'observing', databases: [{ role: 'log', exists: false }] });
});

t.test('at most four databases are examined at once', async t => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const app = await startWithPlugins(
    t,
    {
      crowd: {
        more: "needs: ['database-health'],",
        setup: `
          let [running, most, four] = [0, 0]
          const crowded = new Promise(resolve => { four = resolve })
          for (const name of ${JSON.stringify(names)})
            host.contribute('database.stores', name, { configKey: name, stores: async () => [{ engine: 'crowd', role: name }] })
          host.contribute('database.probe', 'crowd', { provider: 'crowd', async probe ({ stores: [{ role }] }) {
            running += 1
            most = Math.max(most, running)
            if (running === 4) setImmediate(four)
            await crowded
            running -= 1
            return [{ role, exists: true, most }]
          } })`,
      },
    },
    {
      shipped: ['config', 'database-health'],
      config: {
        ...Object.fromEntries(names.map(name => [name, { enabled: true, process_name: name, command: ['true'] }])),
        dumb: {
          metrics: {
            database_health: { enabled: true, services: Object.fromEntries(names.map(name => [name, true])) },
          },
        },
      },
    },
  );
  const { body } = await app.get('/metrics/database-health');
  t.same(
    body.services.map(({ databases }: { databases: { most: number }[] }) => databases[0]?.most),
    [4, 4, 4, 4, 4, 4],
  );
});
