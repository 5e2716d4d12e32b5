// A release that was found by a check and then installed by something else than an update.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { check, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];

t.test('a release that a start has installed is no update any more', async t => {
  const shelf = await makeShelf(t);
  await shelf.publish('v1.0.0');
  const config = {
    dumb: { startup: { stabilization_seconds: 0 }, plugins: { required: [] } },
    gadget: { instances: { One: await shelf.service('One') } },
  };
  const { configDir, pluginDirs } = shelf;
  const app = await startHost({ configDir, config, pluginDirs, plugins: PLUGINS, pace: 0.02 });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'One')).status === 'running', { what: 'the service' });
  const available = async () => (await app.get('/process/update-notices?scope=all')).body.available;
  await shelf.publish('v1.1.0');
  t.match((await check(app, 'One')).body, { status: 'update_available', available_version: 'v1.1.0' });
  t.match(await available(), [{ process_name: 'One' }]);

  await stop(app, 'One');
  for (const name of ['version.txt', 'run.sh']) await rm(path.join(configDir, 'programs', 'One', name));
  t.equal((await start(app, 'One')).status, 200);
  t.equal(await shelf.present('One'), 'v1.1.0', 'the start has installed it');
  const standing = await updateStatus(app, 'One');
  t.match(standing, { status: 'no_update', current_version: 'v1.1.0', message: /^v1\.1\.0 is installed/ });
  t.notOk('available_version' in standing || 'releases_behind' in standing);
  t.same(await available(), []);

  await shelf.publish('v1.2.0');
  t.match((await check(app, 'One')).body, { status: 'update_available', available_version: 'v1.2.0' });
  t.match(await available(), [{ available_version: 'v1.2.0' }]);
});
