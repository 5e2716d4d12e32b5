// The key `restart` of a block: which exits it restarts, with which limit, and that an entry of the list takes
// precedence.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

t.test('the key restarts by policy and limit, and the list takes precedence', async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  /** A service that ends with the code that is written into the file of its name. */
  const service = (name: string, restart?: unknown, more: object = {}) => ({
    enabled: true,
    process_name: name,
    command: [
      'sh',
      '-c',
      `until [ -s ${dir}/${name} ]; do sleep 0.05; done; c=$(cat ${dir}/${name}); rm ${dir}/${name}; exit $c`,
    ],
    suppress_logging: true,
    stop_grace_seconds: 1,
    ...(restart === undefined ? {} : { restart }),
    ...more,
  });
  await writeFile(path.join(dir, 'Work'), '0');
  const { count, plugins, pluginDirs } = await recordEvents(t);
  const app = await startHost({
    plugins,
    pluginDirs,
    config: {
      dumb: {
        startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
        auto_restart: {
          enabled: true,
          backoff_seconds: [0],
          services: [{ process_name: 'Listed' }, { process_name: 'Excluded', enabled: false }],
        },
      },
      always: service('Always', 'always'),
      failure: service('Failure', 'on-failure'),
      never: service('Never', 'no'),
      plain: service('Plain'),
      limited: service('Limited', { policy: 'always', max_restarts: 1, backoff_seconds: [0, 600] }),
      listed: service('Listed', 'no'),
      excluded: service('Excluded', 'always'),
      work: service('Work', 'always', { oneshot: true }),
      odd: service('Odd', 'sometimes'),
    },
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.phase === 'ready');
  const attempts = async (name: string): Promise<number> => (await status(app, name)).restart.restart_attempts;
  /** Resolves when everybody has been told of the exit, so that a restart would be planned by now. */
  const end = async (name: string, code: number) => {
    const before = count('service.stopped.unexpectedly', name);
    await writeFile(path.join(dir, name), String(code));
    await until(() => count('service.stopped.unexpectedly', name) > before, { what: `the end of ${name}` });
  };
  const runs = (name: string, times: number) =>
    until(async () => (await attempts(name)) === times && (await status(app, name)).status === 'running', {
      what: `restart ${times} of ${name}`,
    });

  t.match((await app.get('/process?process_name=Odd')).body.config_problem, /restart/);
  t.match(await status(app, 'Odd'), { status: 'running' }, 'a policy that does not fit is none');
  await end('Always', 0);
  await runs('Always', 1);
  await end('Always', 3);
  await runs('Always', 2);
  await end('Failure', 3);
  await runs('Failure', 1);
  await end('Failure', 0);
  await end('Limited', 3);
  await runs('Limited', 1);
  await end('Limited', 3);
  await until(() => count('service.auto_restart.suppressed', 'Limited') === 1);
  await end('Listed', 3);
  await runs('Listed', 1);
  for (const name of ['Never', 'Plain', 'Excluded']) await end(name, 3);
  // Restarts of these later exits show that earlier exits would have been restarted by now.
  await end('Always', 0);
  await runs('Always', 3);
  for (const name of ['Never', 'Plain', 'Excluded']) t.equal(await attempts(name), 0, name);
  t.equal(await attempts('Failure'), 1);
  t.equal(await attempts('Work'), 0, 'what has done its work is not restarted');
  await until(async () =>
    (await ownLog(app)).some(line => line.includes('Failure ended with exit code 0 and is not restarted')),
  );

  await app.post('/config', { process_name: 'Never', updates: { restart: 'always' } });
  await until(async () => (await status(app, 'Never')).status === 'running', { what: 'the key that acts at once' });
  t.match(await start(app, 'Never'), { status: 200 });
  t.equal((await app.post('/config', { process_name: 'Never', updates: { restart: 'often' } })).status, 400);
});
