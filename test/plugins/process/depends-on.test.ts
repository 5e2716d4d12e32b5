// `depends_on`: a start waits until other services are started, healthy or completed, at boot and on request.
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const MORE = ['dependency-graph', 'signal-depends-on', 'readiness'];
const skip = !MORE.every(name => existsSync(path.join(pluginsDir, name, 'index.ts')));
const block = (processName: string, more: object = {}) => ({
  enabled: false,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('a start waits for each condition', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const file = (name: string) => path.join(dir, name);
  const app = await startHost({
    plugins: ['config', 'process', 'health-probe', ...MORE],
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      web: block('Web', { enabled: true, depends_on: { Base: 'healthy', work: { condition: 'completed' } } }),
      base: block('Base', {
        enabled: true,
        readiness: { exec: ['test', '-e', file('ready')], interval_seconds: 0.1 },
      }),
      work: block('Work', {
        enabled: true,
        oneshot: true,
        command: ['sh', '-c', `until [ -e ${file('done')} ]; do sleep 0.05; done`],
      }),
      lone: block('Lone', { depends_on: ['Off'] }),
      off: block('Off'),
      hasty: block('Hasty', { depends_on: 'Never', wait_timeout_seconds: 0 }),
      never: block('Never'),
      broken: block('Broken', { command: ['sh', '-c', 'exit 3'] }),
      after: block('After', { depends_on: { Broken: 'healthy' }, wait_timeout_seconds: 0 }),
      unready: block('Unready', {
        readiness: { exec: ['sh', '-c', 'exit 7'], interval_seconds: 0.1 },
      }),
      later: block('Later', { depends_on: { Unready: 'healthy' }, wait_timeout_seconds: 0 }),
      lost: block('Lost', { depends_on: ['Nobody'] }),
      first: block('First', { depends_on: ['Second'] }),
      second: block('Second', { depends_on: [{ process_name: 'First', condition: 'healthy' }] }),
      odd: block('Odd', { depends_on: { Base: 'alive' } }),
    },
  });
  t.teardown(() => app.stop());
  const is = async (name: string) => (await status(app, name)).status;
  await until(async () => (await is('Base')) === 'running' && (await is('Work')) === 'running');
  t.equal(await is('Web'), 'stopped', 'the boot waits for what the graph says');
  const { body: graph } = await app.get('/process/dependency-graph?process_name=Web&scope=all');
  const table: readonly { signal: string }[] = graph.dependency_truth_table;
  t.equal(table.at(-1)?.signal, 'depends_on');
  await writeFile(file('done'), '');
  await until(async () => (await is('Work')) === 'stopped');
  t.not(await is('Web'), 'running');
  await writeFile(file('ready'), '');
  await until(async () => (await is('Web')) === 'running');

  const starting = start(app, 'Lone');
  await until(async () => (await status(app, 'Lone')).health_reason === 'Waiting for service Off (started)');
  await start(app, 'Off');
  t.match(await starting, { status: 200 });
  t.match((await start(app, 'Hasty')).body, {
    detail: /service Never \(started\) did not become available within 0 s; Never is stopped$/,
  });
  t.match((await start(app, 'Broken')).body, { detail: /Broken failed to stay running/ });
  t.match((await start(app, 'After')).body, {
    detail: /\(healthy\) did not become available within 0 s; Broken is stopped \(Broken failed to .* code 3\).*\)$/,
  });
  t.equal((await start(app, 'Unready')).status, 200);
  const isLookedAt = async () => (await status(app, 'Unready')).health_reason?.includes('exit code 7');
  await until(isLookedAt, { what: 'a first look' });
  t.match((await start(app, 'Later')).body, {
    detail:
      /Unready \(healthy\) did not become available within 0 s; Unready is running \(its command ended with exit code 7\)$/,
  });
  t.match((await start(app, 'Lost')).body, { detail: /depends_on names Nobody, which is no service; correct it/ });
  t.match((await start(app, 'First')).body, {
    detail: /it depends on itself \(First -> Second -> First\); remove one depends_on/,
  });
  t.match((await app.get('/process?process_name=Odd')).body, { config_problem: /depends_on/ });
});
