// People are notified about a database under pressure or unreadable, and when it can be read again.
import { rm, writeFile } from 'node:fs/promises';
import t from 'tap';
import { filmPlace, freshHealth, give, makeDatabase } from '../../support/database-health.ts';
import { startHost } from '../../support/host.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

t.test('an unreadable database is notified, and its recovery too', async t => {
  const receiver = await startReceiver(t);
  const { main, block } = await filmPlace(t);
  await writeFile(main, 'no database at all'.repeat(1_000));
  await give(main);
  const app = await startHost({
    pace: 0.05,
    plugins: ['notifications', 'notify-webhook', 'database-health', 'services', 'config'],
    config: {
      radarr: { instances: { Default: block } },
      dumb: {
        startup: { stabilization_seconds: 0 },
        metrics: {
          database_health: {
            enabled: true,
            services: { 'radarr:Default': { enabled: true, mode: 'enhanced' } },
            interval_sec: 3_600,
          },
        },
        notifications: {
          enabled: true,
          monitor_interval_sec: 15,
          thresholds: {
            duration_sec: 0,
            database_pressure: 'moderate',
            cpu_percent: 100,
            memory_percent: 100,
            disk_percent: 100,
            inode_percent: 100,
          },
          destinations: [
            {
              id: 'd',
              provider: 'webhook',
              url: `${receiver.url}/`,
              event_types: ['database.collection.failed', 'database.pressure'],
            },
          ],
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const told = (type: string) =>
    until(() => receiver.received.find(({ body }) => body.event_type === type)?.body, { what: type });
  t.match(await told('database.collection.failed'), {
    title: 'A database of Films cannot be read',
    severity: 'warning',
    service_name: 'Films',
  });
  t.match(await told('database.pressure'), {
    title: /^Database pressure of Films is (?:moderate|high)$/,
    body: /^The pressure is \w+, the threshold is moderate\. main could not be read/,
    severity: 'warning',
    service_name: 'Films',
    metadata: { condition_key: 'database:Films', value: /moderate|high/ },
  });
  const listed: string[] = (await app.get('/notifications/events')).body.event_types;
  t.same(listed.slice(-3), ['database.pressure', 'database.collection.failed', 'recovery']);
  await rm(main);
  makeDatabase(main).close();
  await give(main);
  await freshHealth(app);
  const over = () => receiver.received.filter(({ body }) => body.event_type === 'recovery').map(({ body }) => body);
  const both = await until(() => (over().length === 2 ? over() : undefined), { what: 'the end of both' });
  t.same(Object.fromEntries(both.map(({ title, metadata }) => [title, metadata.condition_key])), {
    'The databases of Films can be read again': 'database:Films:collection',
    'Database pressure of Films is normal again': 'database:Films',
  });
  t.notOk(
    both.some(({ body }) => body === ''),
    'services refuse what has a title alone',
  );
});
