// A selection that adds to a list while a save of the whole list is being checked: neither undoes the other.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { HELD_SAVE } from '../../support/held-save.ts';
import { pluginsDir } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'services', 'service-postgres', 'service-zilean', 'wizard'];
const skip = !PLUGINS.every(name => existsSync(path.join(pluginsDir, name)));

t.test('databases that are chosen and saved at once', { skip }, async t => {
  const app = await startWithPlugins(t, { slow: HELD_SAVE }, { shipped: PLUGINS });
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const databases = [{ name: 'of-user', enabled: true }];
  const whole = app.post('/config', { updates: { postgres: { databases } } });
  await app.get('/fixture/saves');
  const chosen = app.post('/process/start-core-service', { core_services: [], optional_services: ['zilean'] });
  await app.post('/fixture/release', {});
  t.equal((await whole).status, 200);
  await chosen;
  const { postgres, zilean } = (await app.get('/config')).body;
  t.equal(zilean.enabled, true, 'the selection is saved');
  t.same(
    postgres.databases.map(({ name }: { name: string }) => name),
    ['of-user', 'zilean'],
  );
});
