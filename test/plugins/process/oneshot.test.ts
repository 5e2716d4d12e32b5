// One-shot services: exit code 0 is success at any time, and starts what needs the service; any other code is a
// failure.
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const skip = !['dependency-graph', 'signal-core-service-fields', 'health'].every(name =>
  existsSync(path.join(pluginsDir, name, 'index.ts')),
);
/** A command that exits with the code in the file `code` once that exists. */
const worker = (dir: string) => ['sh', '-c', `until [ -s ${dir}/code ]; do sleep 0.05; done; exit $(cat ${dir}/code)`];
const block = (processName: string, command: readonly string[], more: object = {}) => ({
  enabled: false,
  oneshot: true,
  process_name: processName,
  command,
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

async function open(t: Test, services: Record<string, object>, pace?: number) {
  const recorder = await recordEvents(t, ['health', 'services', 'dependency-graph', 'signal-core-service-fields']);
  const names = Object.values(services).map(service => (service as { process_name: string }).process_name);
  const app = await startHost({
    plugins: recorder.plugins,
    pluginDirs: recorder.pluginDirs,
    ...(pace === undefined ? {} : { pace }),
    config: {
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: {
          enabled: true,
          max_restarts: 1,
          backoff_seconds: [0],
          services: names.map(name => ({ process_name: name })),
        },
      },
      ...services,
    },
  });
  t.teardown(() => app.stop());
  return { app, count: recorder.count };
}

async function openFolder(t: Test): Promise<string> {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  return dir;
}

t.test('an exit within the observation counts by its code', { skip }, async t => {
  // At this pace the services end within the observation, even on a slow machine.
  const { app, count } = await open(
    t,
    { good: block('Good', ['true']), bad: block('Bad', ['sh', '-c', 'echo ERROR no luck; exit 3']) },
    5,
  );
  t.match(await start(app, 'Good'), { status: 200 });
  const good = await status(app, 'Good');
  t.match(good, { status: 'stopped', health_reason: 'It has done its work', restart: { exit_code: 0 } });
  t.not(good.health_status, 'unhealthy');
  t.match(await start(app, 'Good'), { status: 200 }, 'and again');
  t.equal(count('service.stopped.unexpectedly', 'Good') + count('service.start.failed', 'Good'), 0);
  const failed = await start(app, 'Bad');
  t.match(failed, { status: 500, body: { detail: 'Bad failed (exit code 3): ERROR no luck' } });
  await until(() => count('service.auto_restart.failed', 'Bad') === 1, { what: 'the failure of its restart' });
  t.match(await status(app, 'Bad'), { status: 'stopped', health_status: 'unhealthy', restart: { exit_code: 3 } });
  t.equal(count('service.auto_restart.attempt', 'Good'), 0);
});

t.test('at a boot, a service that needs it starts after its success', { skip }, async t => {
  const dir = await openFolder(t);
  const needing = { oneshot: false, enabled: true, core_service: 'Work' };
  const { app, count } = await open(t, {
    work: block('Work', worker(dir), { enabled: true }),
    after: block('After', ['sleep', '600'], needing),
  });
  await until(async () => (await status(app, 'Work')).status === 'running');
  t.match((await app.get('/process/startup-status')).body, { terminal: false });
  t.equal((await status(app, 'After')).status, 'stopped');
  await writeFile(path.join(dir, 'code'), '0');
  await until(async () => (await app.get('/process/startup-status')).body.phase === 'ready');
  t.match(await status(app, 'Work'), { status: 'stopped', restart: { exit_code: 0 } });
  t.match(await status(app, 'After'), { status: 'running' });
  t.match((await app.get('/health')).body, { status: 'healthy' });
  t.equal(count('service.stopped.unexpectedly', 'Work') + count('service.auto_restart.attempt', 'Work'), 0);
});

t.test('after the observation another code is a failure, and a restart that succeeds ends it', { skip }, async t => {
  const dir = await openFolder(t);
  const { app, count } = await open(t, { work: block('Work', worker(dir)) });
  await start(app, 'Work');
  t.match(await stop(app, 'Work'), { status: 200 });
  t.notMatch(await status(app, 'Work'), { health_reason: 'It has done its work' });
  await start(app, 'Work');
  await writeFile(path.join(dir, 'code'), '4');
  await until(() => count('service.stopped.unexpectedly', 'Work') === 1, { what: 'the failure' });
  await until(() => count('service.auto_restart.failed', 'Work') === 1, { what: 'the failure of its restart' });
  await writeFile(path.join(dir, 'code'), '0');
  t.match(await start(app, 'Work'), { status: 200 });
  await until(async () => (await status(app, 'Work')).health_reason === 'It has done its work');
});

t.test('a service that is stopped during its work is not done, whatever its exit code', { skip }, async t => {
  const { app } = await open(t, {
    work: block('Work', ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.05; done']),
    after: block('After', ['sleep', '600'], { oneshot: false, depends_on: { Work: { condition: 'completed' } } }),
    beside: block('Beside', ['sleep', '600'], { oneshot: false, depends_on: ['Work'] }),
  });
  t.match(await start(app, 'Work'), { status: 200 });
  t.match(await stop(app, 'Work'), { status: 200 });
  t.match(await status(app, 'Work'), { status: 'stopped', restart: { exit_code: 0 } });
  for (const name of ['After', 'Beside']) {
    const starting = start(app, name);
    const now = await until(
      async () => {
        const found = await status(app, name);
        return (found.status === 'running' || /^Waiting/.test(found.health_reason)) && found;
      },
      { what: `the wait of ${name}` },
    );
    t.match(now, { status: 'starting', health_reason: /^Waiting for service Work \((?:completed|started)\)/ });
    t.match(await stop(app, name), { status: 200 });
    t.match(await starting, { status: 409 });
  }
});
