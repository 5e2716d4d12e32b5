// Updates of one-shot services, whose end with success is what the update waits for.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { install, makeShelf } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];

t.test('one that runs at its update', async t => {
  const shelf = await makeShelf(t);
  const config = {
    dumb: { startup: { stabilization_seconds: 0 }, plugins: { required: [] } },
    gadget: { instances: { One: await shelf.service('One', { oneshot: true }) } },
  };
  const { configDir, pluginDirs } = shelf;
  const app = await startHost({ configDir, config, pluginDirs, plugins: PLUGINS, pace: 0.02 });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'One')).status === 'running', { what: 'the first release' });

  await t.test('is taken back when the new release fails', async t => {
    await shelf.publish('v1.1.0', 'exits');
    const { body } = await install(app, 'One');
    t.match(body, { status: 'error', message: /exit code 3.*v1\.0\.0 is in place again$/ });
    t.equal((await status(app, 'One')).status, 'running', 'the old one does its work');
  });

  await t.test('has succeeded when the new release has done its work', async t => {
    await shelf.publish('v1.2.0', 'good', { 'run.sh': 'echo v1.2.0 > data/started\n' });
    const { body } = await install(app, 'One');
    t.match(body, { status: 'updated', current_version: 'v1.2.0', downtime_status: 'completed' });
    t.equal(await shelf.started('One'), 'v1.2.0');
    t.match(await status(app, 'One'), { status: 'stopped', restart: { last_failure_reason: null } });
  });
});
