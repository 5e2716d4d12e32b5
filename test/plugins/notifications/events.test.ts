// Events are notified: those of the product's plugins, those of thresholds, and those of a third party.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/until.ts';

/** A command line that no other process of the machine has. */
const SLEEP = ['sleep', `6${process.pid}`];
/** Replaces the plugin metrics: gives the samples that the test wants. */
const METRICS = `export default { name: 'gauges', host: '^1', setup (host) {
  host.provide('metrics.sampler', { sample: async () => globalThis.notificationSample() })
} }`;
/** A third party's conditions about tanks. */
const TANKS = `export default { name: 'tanks', host: '^1', setup (host) {
  host.event('tank.empty', { description: 'A tank is empty' })
  host.contribute('notifications.event', 'tank.empty', { severity: 'warning', order: 1_050, describe: event => event })
  host.contribute('notifications.condition', 'tank', {
    observe: async ({ database_pressure: threshold }) => globalThis.notificationTanks(threshold),
    tell: (type, event) => host.emit(type, event),
  })
} }`;
const THIRD = `export default { name: 'third', host: '^1', setup (host) {
  host.event('media.found', { description: 'Something was found' })
  host.contribute('notifications.event', 'media.found', {
    severity: 'success',
    describe: ({ name }) => {
      if (name === undefined) throw new Error('no name')
      return { title: 'Found ' + name, body: 'token=abcdef123456', serviceName: 'finder', metadata: { secret: 'password=x1y2z3' } }
    },
  })
  globalThis.emitFound = data => host.emit('media.found', data)
} }`;

interface Values {
  cpu: number | null;
  disks: Record<string, number | null>;
  /** The state of the tank: null is unknown, a text is rubbish. */
  tank: 'full' | 'empty' | 'dry' | 'unknown' | 'rubbish' | 'nothing' | 'throws';
}

/** The processor load in the first sample only. */
let cpuAtFirst: number | null = null;
const values: Values = { cpu: 1, disks: { '/a': 1, '/b': 1 }, tank: 'full' };
let samples = 0;

function sample() {
  samples += 1;
  const space = (percent: number | null) => ({ total: null, used: null, free: null, percent });
  return {
    system: {
      cpuPercent: samples === 1 ? (cpuAtFirst ?? values.cpu) : values.cpu,
      memory: { percent: null },
      fileSystems: Object.entries(values.disks).map(([path, percent]) => ({
        path,
        space: space(percent),
        inodes: space(null),
      })),
    },
    collected: { sample: {} },
  };
}

function tanks(threshold: string): unknown {
  const { tank } = values;
  if (tank === 'throws') throw new Error('the gauge is broken');
  if (tank === 'nothing') return null;
  const condition = {
    key: 'Keeper',
    type: 'tank.empty',
    isTrue: tank === 'unknown' ? null : tank !== 'full',
    title: `The tank of Keeper is ${tank}`,
    body: `The threshold is ${threshold}.`,
    overTitle: 'The tank of Keeper is full again',
    value: tank,
    serviceName: 'Keeper',
    isCritical: tank === 'dry',
  };
  return tank === 'rubbish' ? [{ ...condition, isTrue: 'perhaps' }] : [condition];
}

async function passes(count: number): Promise<void> {
  const until0 = samples + count;
  await until(() => samples >= until0);
}

const titles = (receiver: Receiver) => receiver.received.map(({ body }) => body.title);

t.test('events', async t => {
  Object.assign(globalThis, { notificationSample: sample, notificationTanks: tanks });
  const receiver = await startReceiver(t);
  const dir = testDir(t, {
    own: { gauges: { 'index.js': METRICS }, tanks: { 'index.js': TANKS }, third: { 'index.js': THIRD } },
    config: {},
  });
  const own = path.join(dir, 'own');
  const destination = {
    id: 'd',
    provider: 'webhook',
    url: `${receiver.url}/`,
    minimum_severity: 'info',
    cooldown_sec: 0,
  };
  const config = {
    dumb: {
      startup: { stabilization_seconds: 0 },
      notifications: { enabled: true, thresholds: { duration_sec: 0 }, destinations: [destination] },
    },
    broken: { enabled: false, process_name: 'Broken', command: ['/no/such/program'] },
    brief: { enabled: false, process_name: 'Brief', command: SLEEP },
  };
  const configDir = path.join(dir, 'config');
  const start = (enabled = true) =>
    startHost({
      configDir,
      config: { ...config, dumb: { ...config.dumb, notifications: { ...config.dumb.notifications, enabled } } },
      pace: 0.005,
      pluginDirs: [pluginsDir, own],
      plugins: [
        'notifications',
        'notify-webhook',
        'config',
        'process',
        'auto-restart',
        'host-plugins',
        'gauges',
        'tanks',
        'third',
      ],
    });
  let app = await start();
  t.teardown(() => app.stop());
  const told = (title: string) => until(() => titles(receiver).includes(title), { what: title });
  const settings = (notifications: object) => app.post('/config', { updates: { dumb: { notifications } } });

  await t.test('possible events are listed in their order', async t => {
    t.same((await app.get('/notifications/events')).body.event_types, [
      'manual',
      'dumb.startup.ready',
      'dumb.startup.degraded',
      'service.start.failed',
      'service.unhealthy',
      'service.stopped.unexpectedly',
      'service.auto_restart.attempt',
      'service.auto_restart.succeeded',
      'service.auto_restart.failed',
      'service.auto_restart.suppressed',
      'media.found',
      'resource.cpu.high',
      'resource.memory.high',
      'resource.disk.high',
      'resource.inode.high',
      'tank.empty',
      'recovery',
    ]);
  });

  await t.test('events of processes are notified', async t => {
    await told('Startup complete');
    await app.post('/process/start-service', { process_name: 'Broken' });
    await told('Broken could not be started');
    const started = await app.post('/process/start-service', { process_name: 'Brief' });
    t.equal(started.status, 200, started.text);
    process.kill(Number(execFileSync('pgrep', ['-xf', SLEEP.join(' ')])), 'SIGKILL');
    await told('Brief stopped unexpectedly');
    const message = receiver.received.find(({ body }) => body.title === 'Brief stopped unexpectedly')?.body;
    t.match(message, {
      event_type: 'service.stopped.unexpectedly',
      severity: 'critical',
      service_name: 'Brief',
      metadata: { exit_code: null, signal: 'SIGKILL' },
    });
  });

  await t.test('events of a third party are notified', async t => {
    const emit = (globalThis as unknown as { emitFound(data: object): void }).emitFound;
    emit({ name: 'a film' });
    emit({});
    await told('Found a film');
    await told('media.found');
    const { body } = receiver.received.find(({ body: { title } }) => title === 'Found a film') ?? {};
    t.match(body, {
      severity: 'success',
      service_name: 'finder',
      body: 'token=[REDACTED]',
      metadata: { secret: 'password=[REDACTED]' },
    });
  });

  await t.test('each path is notified, and its recovery too', async t => {
    receiver.received.length = 0;
    values.disks = { '/a': 95.06, '/b': 99, '/c': null };
    await told('Disk usage of /a is high');
    await told('Disk usage of /b is high');
    await passes(4);
    t.equal(receiver.received.length, 2, 'once each');
    t.match(receiver.received.find(({ body }) => body.title.includes('/a'))?.body, {
      event_type: 'resource.disk.high',
      severity: 'warning',
      body: 'Disk usage of /a is 95.1 %, the threshold is 90.0 %.',
      metadata: { condition_key: 'resource:disk:/a', value: 95.06 },
    });
    await settings({ thresholds: { disk_percent: 97 } });
    await told('Disk usage of /a is normal again');
    await settings({ thresholds: { disk_percent: 90 } });
    await until(() => titles(receiver).filter(title => title === 'Disk usage of /a is high').length === 2);
    t.equal(receiver.received.length, 4, 'a threshold that is changed counts at once');
    receiver.received.length = 0;
    values.disks = { '/a': 10, '/b': null };
    await told('Disk usage of /a is normal again');
    t.match(receiver.received.at(-1)?.body, {
      event_type: 'recovery',
      severity: 'success',
      metadata: { condition_key: 'resource:disk:/a', recovered_event_type: 'resource.disk.high' },
    });
    await passes(4);
    t.equal(receiver.received.length, 1, 'an unknown value changes nothing');
    values.disks = { '/a': 10, '/b': 1 };
    await told('Disk usage of /b is normal again');
    values.disks = { '/a': 99, '/b': 1 };
    await told('Disk usage of /a is high');
    values.disks = { '/b': 1 };
    await passes(3);
    values.disks = { '/a': 10, '/b': 1 };
    await passes(3);
    t.equal(receiver.received.length, 3, 'a path that is watched no longer is silently gone');
  });

  await t.test('a condition that gets worse is notified once more', async t => {
    receiver.received.length = 0;
    await settings({ destinations: [{ ...destination, url: '', cooldown_sec: 600 }] });
    values.tank = 'empty';
    await told('The tank of Keeper is empty');
    values.tank = 'dry';
    await told('The tank of Keeper is dry');
    await passes(3);
    t.match(
      receiver.received.map(({ body }) => [body.severity, body.service_name, body.metadata.value, body.body]),
      [
        ['warning', 'Keeper', 'empty', 'The threshold is high.'],
        ['critical', 'Keeper', 'dry', 'The threshold is high.'],
      ],
    );
    t.equal(receiver.received.at(-1)?.body.metadata.condition_key, 'tank:Keeper');
  });

  await t.test('after a restart only the end of a condition is notified', async t => {
    await app.stop();
    samples = 0;
    receiver.received.length = 0;
    cpuAtFirst = 100;
    app = await start();
    await passes(5);
    for (const tank of ['unknown', 'nothing', 'rubbish', 'throws'] as const) {
      values.tank = tank;
      await passes(3);
    }
    const { plugins } = (await app.get('/host/plugins')).body;
    const { errors } = plugins.find(({ name }: { name: string }) => name === 'tanks');
    t.ok(errors.contribution > 1, 'what its source does not tell is counted there');
    values.tank = 'full';
    await told('The tank of Keeper is full again');
    t.same(
      titles(receiver).filter(title => title !== 'Startup complete'),
      ['The tank of Keeper is full again'],
    );
  });

  await t.test('a condition that ends before its duration is over is not notified', async t => {
    receiver.received.length = 0;
    await settings({ thresholds: { duration_sec: 86_400 } });
    values.cpu = 100;
    await passes(4);
    values.cpu = 1;
    await passes(4);
    t.same(titles(receiver), []);
  });

  await t.test('no event is recorded while notifications are disabled', async t => {
    await settings({ enabled: false });
    (globalThis as unknown as { emitFound(data: object): void }).emitFound({ name: 'another' });
    await app.post('/process/start-service', { process_name: 'Broken' });
    await settings({ enabled: true });
    t.notMatch((await app.get('/notifications/history')).text, /another/);
  });

  await t.test('a condition starts again after notifications were disabled over a restart', async t => {
    await settings({ thresholds: { duration_sec: 0 } });
    receiver.received.length = 0;
    values.tank = 'empty';
    await told('The tank of Keeper is empty');
    await settings({ enabled: false });
    await app.stop();
    values.tank = 'full';
    receiver.received.length = 0;
    app = await start(false);
    await settings({ enabled: true });
    await passes(4);
    values.tank = 'dry';
    await told('The tank of Keeper is dry');
    t.same(
      titles(receiver).filter(title => title !== 'Startup complete'),
      ['The tank of Keeper is dry'],
      'the end of what was told before is not',
    );
  });

  await t.test('switched off in the file while the host is down, it begins anew too', async t => {
    await app.stop();
    values.tank = 'full';
    receiver.received.length = 0;
    app = await start(false);
    await settings({ enabled: true });
    await passes(4);
    values.tank = 'dry';
    await told('The tank of Keeper is dry');
    t.same(
      titles(receiver).filter(title => title !== 'Startup complete'),
      ['The tank of Keeper is dry'],
      'the end of what was told before is not',
    );
  });
});
