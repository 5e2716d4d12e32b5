// A service that stays without liveness when the limit of restarts is reached is restarted once the limit allows it
// again.
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { policy } from '../../support/auto-restart.ts';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

/** A service whose liveness always fails, and how often that was looked at. */
async function lifeless(t: Test, autoRestart: object) {
  const dir = testDir(t, { looks: '' });
  const looks = path.join(dir, 'looks');
  await chmod(dir, 0o755);
  await chmod(looks, 0o666);
  const { plugins, pluginDirs, count } = await recordEvents(t, ['readiness']);
  const app = await startHost({
    plugins,
    pluginDirs,
    config: {
      dumb: { startup: { stabilization_seconds: 0 }, auto_restart: policy({ services: [], ...autoRestart }) },
      idle: {
        enabled: false,
        process_name: 'Idle',
        command: ['sleep', '600'],
        suppress_logging: true,
        stop_grace_seconds: 1,
        liveness: { interval_seconds: 0.1, failure_threshold: 2, exec: `echo >> ${looks}; false` },
      },
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Idle');
  return {
    attempts: () => count('service.auto_restart.attempt', 'Idle'),
    suppressed: () => count('service.auto_restart.suppressed', 'Idle'),
    looks: async () => (await readFile(looks, 'utf8')).length,
  };
}

t.test('it is restarted again and again as the limit allows', async t => {
  const { attempts } = await lifeless(t, { max_restarts: 1, window_seconds: 1 });
  await until(() => attempts() >= 3, { what: 'three restarts' });
});

t.test('the limit is told once, however often it fails', async t => {
  const { attempts, suppressed, looks } = await lifeless(t, { max_restarts: 0 });
  await until(() => suppressed() > 0, { what: 'the limit' });
  const before = await looks();
  await until(async () => (await looks()) > before + 8, { what: 'further failures' });
  t.equal(suppressed(), 1);
  t.equal(attempts(), 0);
});

t.test('a restart that was asked for succeeds when the new run is healthy, however long that takes', async t => {
  const dir = testDir(t, { ready: '', looks: '' });
  const [ready, dead, looks] = ['ready', 'dead', 'looks'].map(name => path.join(dir, name)) as [string, string, string];
  await chmod(dir, 0o777);
  await chmod(looks, 0o666);
  const { plugins, pluginDirs, count } = await recordEvents(t, ['readiness']);
  const quick = { interval_seconds: 0.1, failure_threshold: 2 };
  const app = await startHost({
    plugins,
    pluginDirs,
    config: {
      dumb: { startup: { stabilization_seconds: 0 }, auto_restart: policy({ services: [] }) },
      slow: {
        enabled: false,
        process_name: 'Slow',
        command: ['sh', '-c', `rm -f ${dead}; exec sleep 600`],
        suppress_logging: true,
        stop_grace_seconds: 1,
        readiness: { ...quick, exec: ['test', '-e', ready] },
        liveness: { ...quick, exec: `echo >> ${looks}; test ! -e ${dead}` },
      },
    },
  });
  t.teardown(() => app.stop());
  await start(app, 'Slow');
  await rm(ready);
  await writeFile(dead, '');
  await until(() => count('service.auto_restart.attempt', 'Slow') === 1, { what: 'the restart' });
  await until(() => count('service_start', 'Slow') === 2, { what: 'the new run' });
  const before = (await readFile(looks, 'utf8')).length;
  await until(async () => (await readFile(looks, 'utf8')).length > before + 5, { what: 'looks at the new run' });
  t.equal(count('service.auto_restart.succeeded', 'Slow'), 0);
  await writeFile(ready, '');
  await until(() => count('service.auto_restart.succeeded', 'Slow') === 1, { what: 'the recovery' });
});
