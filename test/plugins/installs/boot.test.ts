// Boots and onboarding with missing programs: installed services start at once, a failed download is reported and
// repeated, and nothing that cannot be fetched is enabled.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { WebSocket } from 'ws';
import { recordEvents } from '../../support/events.ts';
import { start, status } from '../../support/kids.ts';
import { makeShop, startShopHost } from '../../support/shop.ts';
import { until } from '../../support/until.ts';

/** Attempts come after pauses, which this shortens. */
const PACE = 0.02;
const ONBOARDING = { roles: ['core'], offers: ['port'] };

t.test('a boot with missing programs', async t => {
  const shop = await makeShop(t);
  const { block, place } = shop;
  await shop.publish('v1.0.0', { 'tool.sh': 'exec sleep 1000\n' });
  await shop.template('widget', {}, { onboarding: ONBOARDING });
  await shop.template('gizmo');
  const brought = { with: 'gizmo', markers: ['tool.sh'] };
  await shop.template('helper', {}, { install: brought, launch: { command: ['sh', 'tool.sh'] } });
  await mkdir(place('Ready'), { recursive: true });
  await writeFile(path.join(place('Ready'), 'run.sh'), 'exec sleep 1000\n');
  await writeFile(path.join(place('Ready'), 'version.txt'), 'v0.9.0\n');
  await shop.close();
  const config = {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    widget: {
      instances: {
        Ready: block('Ready', { enabled: true }),
        Late: block('Late', { enabled: true }),
        Later: block('Later', { enabled: true }),
      },
    },
    gizmo: { instances: { Default: block('Gizmo') } },
    helper: { instances: { Default: { ...block('Helper'), config_dir: place('Gizmo') } } },
  };
  const recorder = await recordEvents(t, ['installs', 'setup', 'services', 'wizard', 'own-shop', 'notifications']);
  const { plugins } = recorder;
  const pluginDirs = [...shop.pluginDirs, ...recorder.pluginDirs.slice(1)];
  const app = await startShopHost(shop, config, { plugins, pluginDirs, pace: PACE });
  t.teardown(() => app.stop());
  const startup = async () => (await app.get('/process/startup-status')).body;
  const saved = async () => JSON.parse(await readFile(path.join(shop.configDir, 'stackwarden.json'), 'utf8'));

  await t.test('starts what is installed while it installs the rest', async t => {
    await until(async () => (await status(app, 'Ready')).status === 'running', { what: 'the installed service' });
    const report = await until(async () => {
      const found = await startup();
      return found.services.Late.install?.phase === 'fetching' || found.services.Later.install?.phase === 'fetching'
        ? found
        : undefined;
    });
    t.equal(report.terminal, false, 'the boot goes on');
    const phases = [report.services.Late.install?.phase, report.services.Later.install?.phase].sort();
    t.same(phases, ['fetching', 'queued'], 'of one config key one comes after the other');
    const socket = new WebSocket(`${app.base.replace('http', 'ws')}/ws/status?health=true`);
    t.teardown(() => socket.close());
    const message = await new Promise<string>(resolve => socket.once('message', text => resolve(String(text))));
    const late = JSON.parse(message).processes.filter((one: { install: unknown }) => one.install !== null);
    t.equal(late.length, 2, 'the stream tells of both');
  });

  await t.test('reports what could not be fetched, and tries again by itself', async t => {
    await shop.refuse({ status: 502, detail: 'shop.example answered 503; try again later' });
    await shop.open();
    const sentence = /^Late cannot be installed: shop\.example answered 503; .*\(tried again by itself in \d+ s\)$/;
    await until(async () => sentence.test((await startup()).failures.Late ?? ''), { what: 'the sentence' });
    await until(async () => (await startup()).phase === 'degraded');
    t.match(
      recorder.events.find(({ type, data }) => type === 'service.preinstall.failed' && data.processName === 'Late'),
      { plugin: 'installs', data: { reason: /^Late cannot be installed: shop\.example answered 503/ } },
    );
    t.equal(recorder.count('service.preinstall.failed', 'Ready'), 0);
    const types: string[] = (await app.get('/notifications/events')).body.event_types;
    const listed = types.filter(type => /^(?:dumb|service\.(?:pre|start))/.test(type));
    t.same(listed.slice(-2), ['service.preinstall.failed', 'service.start.failed'], 'people can be told of it');
    t.match(await status(app, 'Ready'), { status: 'running' });
    await until(async () => (await status(app, 'Late')).install?.phase === 'waiting');
    await shop.refuse(null);
    for (const name of ['Late', 'Later'])
      await until(async () => (await status(app, name)).status === 'running', { what: `${name} after another try` });
    await until(async () => (await startup()).phase === 'ready', { what: 'a boot without failures' });
    t.equal(await readFile(path.join(place('Ready'), 'version.txt'), 'utf8'), 'v0.9.0\n', 'what was there stays');
  });

  await t.test('installs a program that comes with another one', async t => {
    t.match(await start(app, 'Helper'), { status: 200 });
    t.equal(await readFile(path.join(place('Gizmo'), 'version.txt'), 'utf8'), 'v1.0.0\n');
  });

  await t.test('onboarding enables nothing that cannot be fetched', async t => {
    await shop.refuse({ status: 502, detail: 'shop.example answered 404; choose another release' });
    const ask = { core_services: [{ name: 'widget', instance_name: 'New' }] };
    const before = await saved();
    const answer = await app.post('/process/start-core-service', ask);
    t.match(answer, {
      status: 500,
      body: { detail: /cannot be installed: shop\.example answered 404; choose another/ },
    });
    t.same(await saved(), before);
    await shop.refuse(null);
  });

  await t.test('onboarding on an empty machine ends with a running service', async t => {
    const ask = { core_services: [{ name: 'widget', instance_name: 'New' }] };
    t.match(await app.post('/process/start-core-service', ask), {
      status: 200,
      body: { results: [{ service: 'widget', status: 'started' }], errors: [] },
    });
    t.equal(
      await readFile(path.join(path.dirname(shop.configDir), 'widget', 'new', 'version.txt'), 'utf8'),
      'v1.0.0\n',
    );
  });
});
