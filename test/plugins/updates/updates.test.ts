// Updates of services over their routes: what is found, what prevents an installation, what is installed, rolled back
// and reported.
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { entryOf } from '../../support/configured.ts';
import { recordEvents } from '../../support/events.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start, status, stop } from '../../support/kids.ts';
import { check, FIRST, install, makeShelf, updateStatus } from '../../support/shelf.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs'];
const PACE = 0.02;

t.test('updates', async t => {
  const shelf = await makeShelf(t);
  await shelf.publish('v1.0.0');
  const recorder = await recordEvents(t, [...PLUGINS, 'install-shelf']);
  const { configDir, service } = shelf;
  const webPort = await freePort();
  const config = {
    dumb: {
      startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      plugins: { required: [] },
    },
    gadget: {
      instances: {
        One: await service('One'),
        Two: await service('Two', { pinned_version: 'v1.0.0' }),
        Web: await service('Web', { port: webPort, env: { PORT: String(webPort) } }, 'answers'),
        Slow: await service('Slow', { stop_grace_seconds: 3 }, 'stubborn'),
        Late: await service('Late', { enabled: false }),
        Twin: { ...(await service('Twin', { enabled: false })), config_dir: path.join(configDir, 'programs', 'One') },
      },
    },
    plain: { enabled: false, process_name: 'Plain', command: ['true'] },
  };
  const lateVersion = path.join(configDir, 'programs', 'Late', 'version.txt');
  await rm(lateVersion);
  const app = await startHost({
    configDir,
    config,
    pluginDirs: [...shelf.pluginDirs, ...recorder.pluginDirs.slice(1)],
    plugins: recorder.plugins,
    pace: PACE,
  });
  t.teardown(() => app.stop());
  const isUp = (name: string) => until(async () => (await status(app, name)).status === 'running', { what: name });
  await Promise.all(['One', 'Two', 'Web', 'Slow'].map(isUp));
  const { present } = shelf;

  await t.test('services that can be updated are marked', async t => {
    t.match(await entryOf(app, 'One'), { supports_manual_update: true, update_status: null });
    for (const name of ['Plain', 'DUMB API']) t.match(await entryOf(app, name), { supports_manual_update: false });
    const { body: unsupported } = await check(app, 'Plain');
    const message = /cannot be installed from here, because no template says how; give \w+ one with `install`$/;
    t.match(unsupported, { process_name: 'Plain', status: 'unsupported', message });
    t.same(await updateStatus(app, 'Plain'), unsupported, 'and stays so');
    t.match(await updateStatus(app, 'DUMB API'), { status: 'unsupported', message: /pull the new image/ });
    t.equal(await updateStatus(app, 'One'), null, 'nothing is known yet');
    t.match((await install(app, 'DUMB API')).body, { status: 'unsupported', message: /pull the new image/ });
    t.equal((await check(app, 'Nobody')).status, 404);
    t.equal((await check(app, ' ')).status, 400);
    t.match((await install(app, 'One', { target: 'x' })).status, 400);
    t.equal((await app.get('/process/update-notices?scope=x')).status, 400);
    const { body: flags } = await app.get('/process/capabilities');
    for (const flag of ['manual_update_check', 'auto_update_start_time', 'auto_update_mode', 'dashboard_bulk_updates'])
      t.equal(flags[flag], true, flag);
    t.match(flags, { update_timing_metrics: true, configured_source_install: true });
  });

  await t.test('a version that is not known yet is looked up', async t => {
    await writeFile(lateVersion, 'v1.0.0');
    t.match((await check(app, 'Late')).body, { status: 'no_update', current_version: 'v1.0.0' });
  });

  await t.test(
    'a look is made once a minute unless it is forced, and one that fails changes nothing known',
    async t => {
      t.match((await check(app, 'One', false)).body, { status: 'no_update', current_version: 'v1.0.0' });
      const asked = await shelf.asked();
      await check(app, 'One', false);
      t.equal(await shelf.asked(), asked);
      await shelf.publish('v1.1.0');
      t.match((await check(app, 'One')).body, {
        status: 'update_available',
        available_version: 'v1.1.0',
        releases_behind: 1,
        release_url: 'https://example.org/v1.1.0',
        configured_target_kind: 'release',
      });
      await shelf.refuse(502, 'the shelf is closed: 502; try again later');
      t.match((await check(app, 'One')).body, { status: 'error', message: /the shelf is closed/ });
      t.match(await updateStatus(app, 'One'), {
        status: 'update_available',
        available_version: 'v1.1.0',
        last_check_error: /the shelf is closed/,
      });
      await shelf.refuse(503, 'asked too often', { 'Retry-After': '3600' });
      await check(app, 'Twin');
      const before = await shelf.asked();
      t.match((await check(app, 'Twin')).body, { status: 'error', message: 'asked too often' });
      t.equal(await shelf.asked(), before, 'it is not asked again for an hour');
      await shelf.publish('v1.1.0');
    },
  );

  await t.test('a release that cannot lie in the folder is refused while the service runs', async t => {
    const pid = await pidOf(app, 'Two');
    await shelf.publish('v1.0.9', 'good', { '.stackwarden': '' });
    t.match((await install(app, 'Two', { allow_override: true })).body, {
      status: 'error',
      message: 'the release has a folder .stackwarden of its own; choose another release',
    });
    t.equal(await pidOf(app, 'Two'), pid);
    await shelf.publish('v1.1.0');
  });

  await t.test('a pinned version stays', async t => {
    const before = await shelf.asked();
    t.match((await check(app, 'Two')).body, { status: 'blocked', reason: 'pinned_version' });
    t.match((await install(app, 'Two')).body, { status: 'blocked', reason: 'pinned_version' });
    t.match((await install(app, 'Two', { target: 'latest' })).body, { status: 'blocked' });
    t.equal(await shelf.asked(), before);
    t.match((await install(app, 'Two', { target: 'configured' })).body, { status: 'no_update' });
    t.match((await install(app, 'Two', { allow_override: true })).body, {
      status: 'updated',
      current_version: 'v1.1.0',
    });
    t.equal(await present('Two'), 'v1.1.0');
    t.match((await entryOf(app, 'Two')).config, { pinned_version: 'v1.0.0' });
    t.match((await check(app, 'Two')).body, { status: 'blocked', configured_target_installed: false });
  });

  await t.test('an installation stops everything that runs from the folder, and starts what ran', async t => {
    const pid = await pidOf(app, 'One');
    const [one, same, other] = await Promise.all([
      install(app, 'One'),
      install(app, 'One'),
      install(app, 'Two', { target: 'latest', allow_override: true }),
    ]);
    t.match(one.body, {
      status: 'updated',
      current_version: 'v1.1.0',
      previous_version: 'v1.0.0',
      downtime_status: 'completed',
    });
    t.ok(one.body.downtime_seconds <= one.body.install_duration_seconds);
    t.match(one.body.timing_completed_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    t.same(same.body, one.body);
    t.match(other.body, { status: 'installing', reason: 'update_in_progress' });
    t.equal(await present('One'), 'v1.1.0');
    t.not(await pidOf(app, 'One'), pid);
    t.equal((await status(app, 'Twin')).status, 'stopped');
    t.match(await updateStatus(app, 'Twin'), { status: 'updated', current_version: 'v1.1.0' });
    t.match((await check(app, 'One')).body, { status: 'no_update', applied_at: Number, downtime_status: 'completed' });
    t.match((await install(app, 'One')).body, { status: 'no_update' });
  });

  await t.test('the update of a held service is deferred', async t => {
    const known = await updateStatus(app, 'Two');
    await app.post('/shelf/hold', { process_name: 'Two' });
    t.match((await install(app, 'Two', { target: 'latest', allow_override: true })).body, {
      status: 'deferred',
      reason: 'held',
      message: /^Two is held: it is on the shelf; update it when that is done$/,
      current_version: known.current_version,
    });
    await app.post('/shelf/hold', {});
    t.match((await check(app, 'Two')).body, { status: 'blocked' });
    await app.post('/config', { process_name: 'Two', updates: { pinned_version: '' } });
    t.equal(await updateStatus(app, 'Two'), null, 'nothing is known of one that nothing keeps any more');
  });

  await t.test('a release that does not start is rolled back', async t => {
    await shelf.publish('v2.0.0', 'exits');
    t.match((await install(app, 'One')).body, {
      status: 'error',
      message: /code 3.*; v1\.1\.0 is in place again/,
      downtime_status: 'completed',
    });
    t.equal(await present('One'), 'v1.1.0');
    t.equal((await status(app, 'One')).status, 'running');
    const { statuses } = JSON.parse(await readFile(path.join(configDir, 'update_notices.json'), 'utf8'));
    t.equal(statuses.One.failed_version, 'v2.0.0', 'a schedule does not install it again');
    t.match((await check(app, 'One')).body, { status: 'update_available', available_version: 'v2.0.0' });
  });

  await t.test('a release that does not answer is rolled back', async t => {
    await shelf.publish('v2.1.0', 'mute');
    t.match((await install(app, 'Web')).body, {
      status: 'error',
      message: /^Web was not ready within 120 s: .*; v1\.0\.0 is in place again/,
    });
    t.equal(await present('Web'), FIRST);
    await until(async () => (await status(app, 'Web')).healthy === true, { what: 'the old release to answer' });
  });

  const loadAnew = async (plugin: string) => {
    const choose = (disabled: readonly string[]) =>
      app.post('/config', { updates: { dumb: { plugins: { disabled } } } });
    const state = () => app.host.plugins().find(({ name }) => name === plugin)?.state;
    await choose([plugin]);
    await until(() => state() === 'disabled', { what: `${plugin} to be gone` });
    await choose([]);
  };

  await t.test('a reload of process control does not affect an update', async t => {
    const installed = install(app, 'Web');
    await until(async () => /starts v2/.test((await updateStatus(app, 'Web')).message), { what: 'the new release' });
    await loadAnew('process');
    t.match((await installed).body, { status: 'error', message: /; v1\.0\.0 is in place/ });
    t.equal(await present('Web'), FIRST);
    await until(async () => (await status(app, 'Web')).healthy === true, { what: 'the old release to answer' });
  });

  await t.test('a stopped service stays stopped', async t => {
    await shelf.publish('v3.0.0');
    await stop(app, 'One');
    t.match((await install(app, 'One')).body, { status: 'updated', downtime_status: 'not_observed' });
    t.equal((await status(app, 'One')).status, 'stopped');
    await start(app, 'One');
  });

  await t.test('an update is notified once', async t => {
    await shelf.publish('v3.1.0');
    await check(app, 'One');
    await check(app, 'One');
    const toldOf = (type: string) =>
      recorder.events.filter(event => event.type === type && event.data.processName === 'One').map(({ data }) => data);
    t.match(toldOf('update.available'), [
      { currentVersion: 'v1.0.0', availableVersion: 'v1.1.0', releaseUrl: 'https://example.org/v1.1.0' },
      { availableVersion: 'v2.0.0' },
      { availableVersion: 'v3.1.0' },
    ]);
    t.match(toldOf('update.succeeded'), [{ previousVersion: 'v1.0.0', currentVersion: 'v1.1.0' }, Object]);
    t.match(toldOf('update.failed'), [{ operation: 'check' }, { operation: 'install', reason: /is in place again/ }]);
  });

  await t.test('a failure is notified again after a day', async t => {
    const { now } = Date;
    t.teardown(() => {
      Date.now = now;
    });
    const told = () =>
      recorder.events.filter(({ type, data }) => type === 'update.failed' && data.processName === 'One').length;
    await shelf.refuse(502, 'the shelf is closed again');
    const before = told();
    const counts: number[] = [];
    for (const hours of [0, 1, 25, 24 * 400, 0, 1]) {
      Date.now = () => now() + hours * 3_600_000;
      await check(app, 'One');
      counts.push(told() - before);
    }
    t.same(counts, [1, 1, 2, 3, 4, 4]);
    await shelf.publish('v3.1.0');
  });

  await t.test('notices list available updates and failures', async t => {
    const { body } = await app.get('/process/update-notices?scope=all');
    t.match(body, {
      scope: 'all',
      available: [{ type: 'available', process_name: 'One', available_version: 'v3.1.0', display_name: 'Gadget One' }],
      info: [
        { type: 'info', process_name: 'Web' },
        { process_name: 'Web' },
        { type: 'info', process_name: 'One', message: /v1\.1\.0 is in place again/ },
      ],
    });
    t.same(
      body.applied.map((notice: { current_version: string }) => notice.current_version),
      ['v3.0.0', 'v1.1.0', 'v1.1.0'],
    );
    t.same((await app.get('/process/update-notices')).body, { scope: 'project', available: [], info: [], applied: [] });
  });

  await t.test('the installing plugin can be reloaded between the stop and the start', async t => {
    const installed = install(app, 'Slow');
    await until(async () => /puts v3/.test((await updateStatus(app, 'Slow')).message), { what: 'the stop' });
    await loadAnew('installs');
    const { body } = await installed;
    const version = await present('Slow');
    if (body.status === 'error') t.match(body.message, /; v1\.0\.0 is in place again$/);
    else t.equal(body.status, 'updated', body.message);
    t.equal(version, body.status === 'error' ? FIRST : 'v3.1.0', 'it is what is told');
    t.equal((await status(app, 'Slow')).status, 'running');
    t.equal(await shelf.started('Slow'), version);
  });
});
