// `on_exit` of a service that something else holds: it follows only when the holder leaves the service ended.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { install, makeShelf } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf', 'on-exit'];

t.test('an update to a release that ends', async t => {
  const shelf = await makeShelf(t);
  const config = {
    dumb: { startup: { stabilization_seconds: 0 }, plugins: { required: [] } },
    gadget: {
      instances: {
        One: await shelf.service('One', { on_exit: 'stop-all' }),
        Once: await shelf.service('Once', { on_exit: 'stop-all', oneshot: true }),
      },
    },
    other: { enabled: true, process_name: 'Other', command: ['sleep', '600'], stop_grace_seconds: 1 },
  };
  const { configDir, pluginDirs } = shelf;
  const app = await startHost({ configDir, config, pluginDirs, plugins: PLUGINS, pace: 0.02 });
  t.teardown(() => app.stop());
  const is = async (name: string, word: string) => (await status(app, name)).status === word;
  for (const name of ['One', 'Once', 'Other']) await until(() => is(name, 'running'), { what: name });

  await t.test('stops nothing while the old release is put back', async t => {
    await shelf.publish('v1.1.0', 'exits');
    t.match((await install(app, 'One')).body, { status: 'error', message: /v1\.0\.0 is in place again$/ });
    for (const name of ['One', 'Once', 'Other']) t.ok(await is(name, 'running'), name);
    t.notOk((await ownLog(app)).some(line => line.includes('as its on_exit says')));
  });

  await t.test('stops all when the service has ended for good', async t => {
    await shelf.publish('v1.2.0', 'good', { 'run.sh': 'echo v1.2.0 > data/started\n' });
    t.match((await install(app, 'Once')).body, { status: 'updated' });
    for (const name of ['One', 'Other']) await until(() => is(name, 'stopped'), { what: `the end of ${name}` });
    t.ok((await ownLog(app)).some(line => line.includes('Once has ended (Exited with code 0): every service is')));
  });
});
