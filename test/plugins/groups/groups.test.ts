// Groups of services: started in the order of their needs, stopped in reverse, with a result for each member.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { followTimers } from '../../support/living-timers.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const MORE = ['groups', 'dependency-graph', 'signal-depends-on'];
const skip = !MORE.every(name => existsSync(path.join(pluginsDir, name, 'index.ts')));

t.test('a group is started in order, stopped in reverse, and reports each member', { skip }, async t => {
  const block = (processName: string, groups: unknown, more: object = {}) => ({
    enabled: true,
    autostart: false,
    process_name: processName,
    command: ['sleep', '600'],
    suppress_logging: true,
    stop_grace_seconds: 1,
    groups,
    ...more,
  });
  const { events, plugins, pluginDirs } = await recordEvents(t, MORE);
  const app = await startHost({
    plugins,
    pluginDirs,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      web: block('Web', 'media', { depends_on: ['Base'] }),
      base: block('Base', ['media', 'media', 'data']),
      broken: block('Broken', 'media', { command: ['/nowhere/program'] }),
      other: block('Other', 'data'),
      alone: block('Alone', undefined),
    },
  });
  t.teardown(() => app.stop());
  t.same((await app.get('/process/groups')).body, {
    groups: [
      { name: 'media', process_names: ['Web', 'Base', 'Broken'] },
      { name: 'data', process_names: ['Base', 'Other'] },
    ],
  });
  /** Events arrive later than the answer. */
  const told = async (type: string, names: readonly string[]) => {
    const of = () => events.filter(event => event.type === type).map(({ data }) => data.processName);
    await until(() => of().length >= names.length, { what: type });
    t.same(of(), names);
  };
  const results = async (action: string, group: string) =>
    (await app.post(`/process/${action}-group`, { group })).body.results;
  t.match(await results('start', 'media'), [
    { process_name: 'Web', status: 'started' },
    { process_name: 'Base', status: 'started' },
    { process_name: 'Broken', status: 'failed', error: /was not found/ },
  ]);
  await told('service_start', ['Base', 'Web']);
  t.match(await results('start', 'data'), [
    { process_name: 'Base', status: 'already-running' },
    { process_name: 'Other', status: 'started' },
  ]);
  t.match(await results('restart', 'media'), [{ status: 'started' }, { status: 'started' }, { status: 'failed' }]);
  await told('service_stop', ['Web', 'Base']);
  await told('service_start', ['Base', 'Web', 'Other', 'Base', 'Web']);
  t.match(await results('stop', 'data'), [{ status: 'stopped' }, { status: 'stopped' }]);
  t.match(await results('stop', 'data'), [{ status: 'not-running' }, { status: 'not-running' }]);
  t.match(await status(app, 'Web'), { status: 'running' });
  t.match(await app.post('/process/stop-group', { group: 'nobody' }), {
    status: 404,
    body: { detail: 'There is no group nobody; there are media, data' },
  });
});

t.test('a name that does not fit leaves the service in its other groups', { skip }, async t => {
  const block = { enabled: false, process_name: 'Web', command: ['sleep', '600'], groups: ['media', 'a\nb', 'data'] };
  const app = await startHost({ plugins: ['config', 'process', ...MORE], config: { web: block } });
  t.teardown(() => app.stop());
  const process_names = ['Web'];
  t.same((await app.get('/process/groups')).body.groups, [
    { name: 'media', process_names },
    { name: 'data', process_names },
  ]);
});

t.test('a restart that the end of the host cuts off goes on at its next start', { skip }, async t => {
  const configDir = testDir(t);
  // Its shell ends only when somebody makes the file.
  const stubborn = path.join(configDir, 'go');
  const member = (processName: string, command: string) => ({
    enabled: true,
    process_name: processName,
    command: ['sh', '-c', command],
    groups: 'both',
    stop_grace_seconds: 60,
  });
  const port = await writeConfig(configDir, {
    quick: member('Quick', 'exec sleep 600'),
    slow: member(
      'Slow',
      `trap 'until [ -e ${stubborn} ]; do sleep 0.05; done; exit' TERM; while :; do sleep 0.05; done`,
    ),
    other: { ...member('Other', 'exec sleep 600'), groups: 'rest' },
  });
  const options = { plugins: ['config', 'process', ...MORE] };
  const first = await startStackwarden(configDir, port, options);
  const post = (route: string, body: object) =>
    fetch(first.base + route, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const statusOf = async (name: string) => {
    const answer = await fetch(`${first.base}/process/service-status?process_name=${name}`);
    return ((await answer.json()) as { status: string }).status;
  };
  const are = (...wanted: string[]) =>
    until(async () => (await Promise.all(['Quick', 'Slow', 'Other'].map(statusOf))).join() === wanted.join(), {
      what: wanted.join(),
    });
  await are('running', 'running', 'running');
  t.equal((await post('/process/stop-group', { group: 'rest' })).status, 200);
  const restart = post('/process/restart-group', { group: 'both' }).catch(() => undefined);
  await are('stopped', 'stopping', 'stopped');
  first.child.kill('SIGKILL');
  await Promise.all([first.exited, restart]);
  await writeFile(stubborn, '');
  const next = await startStackwarden(configDir, port, options);
  await are('running', 'running', 'stopped');
  next.child.kill('SIGTERM');
  t.match(await next.exited, { code: 0 });
});

t.test('an answered start of a group keeps no timer', { skip }, async t => {
  const timers = followTimers(t);
  const patienceMs = 300_000;
  const block = { enabled: false, process_name: 'Member', command: ['sleep', '600'], groups: ['all'] };
  const config = { member: { ...block, suppress_logging: true, stop_grace_seconds: 1 } };
  const app = await startHost({ plugins: MORE, config });
  t.teardown(() => app.stop());
  const restarted = async () => (await app.post('/process/restart-group', { group: 'all' })).body.results;
  t.match(await restarted(), [{ process_name: 'Member' }]);
  const before = timers(patienceMs);
  for (let number = 0; number < 3; number += 1) t.match(await restarted(), [{ process_name: 'Member' }]);
  await until(() => timers(patienceMs) <= before, {
    timeoutMs: 20_000,
    what: 'the timers of the starts to be cleared',
  });
});
