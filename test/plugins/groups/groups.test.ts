// Groups of services: started in the order of their needs, stopped in reverse, with a result for each member.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { recordEvents } from '../../support/events.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
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
