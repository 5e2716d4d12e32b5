// A value of the file that does not fit is replaced alone, whatever else stands in its section.
import t from 'tap';
import { startHost } from '../../support/host.ts';

t.test('items that do not fit leave a list, which gets its default when none is left', async t => {
  const metrics = { system_scope: 'host', network_interfaces: ['eth0'] };
  const shown = async (own: Record<string, unknown>) => {
    const app = await startHost({
      plugins: ['metrics', 'config'],
      config: { dumb: { metrics: { ...metrics, ...own } } },
    });
    t.teardown(() => app.stop());
    const { body } = await app.get('/config');
    return body.dumb.metrics;
  };
  for (const [given, wanted] of [
    [['data', 'more', '/proc'], ['/proc']],
    [['data'], ['/']],
    [['data', 'more'], ['/']],
    [['/a', '/a'], ['/']],
    ['/', ['/']],
  ] as const) {
    const { filesystem_paths: paths, ...others } = await shown({ filesystem_paths: given });
    t.same(paths, wanted, JSON.stringify(given));
    t.match(others, metrics, 'the others are as they were');
  }
  const { network_interfaces: interfaces, ...others } = await shown({ network_interfaces: [''] });
  t.same(interfaces, ['all']);
  t.match(others, { system_scope: 'host' });
});
