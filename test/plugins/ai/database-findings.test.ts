// What a diagnosis recommends about the health of databases.
import { writeFile } from 'node:fs/promises';
import t from 'tap';
import { filmPlace, freshHealth, give, makeDatabase } from '../../support/database-health.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

t.test('only a raised pressure of a database is a finding', async t => {
  const place = await filmPlace(t);
  makeDatabase(place.main).close();
  await writeFile(place.log, 'all is well\n');
  await give(place.main, place.log);
  const services = { 'radarr:Default': { enabled: true } };
  const app = await startHost({
    plugins: ['ai', 'database-health', 'services', 'config'],
    config: {
      radarr: { instances: { Default: place.block } },
      dumb: { metrics: { database_health: { enabled: true, services, interval_sec: 3_600 } } },
    },
  });
  t.teardown(() => app.stop());
  /**
   * Refreshes the health, and waits until the newest sample of the metrics has it, from which the assistant reads it.
   */
  const isSeen = async (pressure: string) => {
    await freshHealth(app);
    return until(async () => (await app.get('/metrics')).body.database_health.services[0]?.pressure === pressure);
  };
  const findings = async (): Promise<{ id: string; reason: string }[]> => {
    const { body } = await app.post('/ai/diagnose', { process_name: 'Films', dry_run: true });
    return body.bundle.recommendations.filter(({ id }: { id: string }) => id === 'review-database-pressure');
  };

  await isSeen('healthy');
  t.same(await findings(), []);

  await writeFile(place.log, 'all is well\ndisk I/O error\ndatabase is locked\n');
  await isSeen('critical');
  t.match(await findings(), [{ reason: /^The pressure of the databases of Films is critical/ }]);

  const off = { dumb: { metrics: { database_health: { enabled: false } } } };
  t.equal((await app.post('/config', { updates: off })).status, 200);
  await until(async () => (await app.get('/metrics')).body.database_health.enabled === false);
  t.same(await findings(), []);
});
