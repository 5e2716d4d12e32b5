// `on_exit`: the exit of a service stops all others in order, and with `shutdown` Stackwarden itself; a restart of the
// service takes precedence.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { startHost } from '../../support/host.ts';
import { status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const block = (processName: string, command: readonly string[], more: object = {}) => ({
  enabled: true,
  process_name: processName,
  command,
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});
const startup = { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 };

t.test('stop-all stops all other services in order', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const ends = (name: string) => [
    'sh',
    '-c',
    `until [ -e ${dir}/${name} ]; do sleep 0.05; done; rm ${dir}/${name}; exit 3`,
  ];
  const { count, plugins, pluginDirs } = await recordEvents(t, ['on-exit']);
  const app = await startHost({
    plugins,
    pluginDirs,
    config: {
      dumb: { startup, auto_restart: { backoff_seconds: [0] } },
      main: block('Main', ends('main'), { on_exit: 'stop-all' }),
      again: block('Again', ends('again'), { on_exit: 'stop-all', restart: 'always' }),
      asked: block('Asked', ['sleep', '600'], { on_exit: 'stop-all' }),
      other: block('Other', ['sleep', '600']),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const is = async (name: string, word: string) => (await status(app, name)).status === word;
  await stop(app, 'Asked');
  await writeFile(path.join(dir, 'again'), '');
  await until(() => count('service_start', 'Again') === 2, { what: 'the restart, which comes first' });
  t.ok(await is('Other', 'running'));
  await writeFile(path.join(dir, 'main'), '');
  for (const name of ['Main', 'Again', 'Other']) await until(() => is(name, 'stopped'), { what: `the end of ${name}` });
  t.ok(
    (await ownLog(app)).some(line => line.includes('Main has ended (Exited with code 3): every service is stopped')),
  );
  t.match(await status(app, 'Other'), { restart: { disabled: true } });
});

t.test('stop-all also stops what would start by itself', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const ends = (name: string) => ['sh', '-c', `until [ -e ${dir}/${name} ]; do sleep 0.05; done; exit 3`];
  const app = await startHost({
    plugins: ['on-exit', 'auto-restart', 'schedules', 'health-probe'],
    config: {
      dumb: { startup, auto_restart: { backoff_seconds: [600] } },
      main: block('Main', ends('main'), { on_exit: 'stop-all' }),
      again: block('Again', ends('again'), { restart: 'always' }),
      ended: block('Ended', ends('ended')),
      yearly: block('Yearly', ['sleep', '600'], { schedule: '0 0 1 1 *' }),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  for (const name of ['ended', 'again']) await writeFile(path.join(dir, name), '');
  await until(async () => (await status(app, 'Ended')).status === 'stopped', { what: 'the end of Ended' });
  await until(async () => (await status(app, 'Again')).restart.pending, { what: 'the pause before the restart' });
  await writeFile(path.join(dir, 'main'), '');
  for (const name of ['Again', 'Ended', 'Yearly'])
    await until(async () => (await status(app, name)).restart.disabled, { what: `the stop of ${name}` });
  t.match(await status(app, 'Again'), { status: 'stopped', restart: { pending: false } });
  t.match(
    await status(app, 'Main'),
    { health_status: 'unhealthy', restart: { disabled: false } },
    'what has ended all stays told',
  );
});

t.test('shutdown stops Stackwarden', async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, {
    dumb: { log_dir: path.join(configDir, 'log'), gateway: { enabled: false }, startup },
    main: block('Main', ['sh', '-c', 'sleep 1'], { on_exit: 'shutdown', oneshot: true }),
    other: block('Other', ['sleep', '600']),
  });
  const host = await startStackwarden(configDir, port, { plugins: ['on-exit'] });
  t.same(await host.exited, { code: 0, signal: null });
});
