// The line in the log about the plugins when all have been set up.
import t from 'tap';
import type { PluginState } from '../../../core/contract/host.ts';
import { loadedPlugins } from '../../../core/host/loaded-plugins.ts';

const reports = (state: PluginState, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${state}-${index}`, state }));

t.test('the log counts loaded plugins and names the others', async t => {
  t.equal(loadedPlugins(reports('ready', 3)), '3 plugins are loaded');
  t.equal(
    loadedPlugins([
      ...reports('ready', 2),
      ...reports('failed', 1),
      ...reports('disabled', 1),
      ...reports('skipped', 1),
    ]),
    '2 plugins are loaded, without disabled-0, skipped-0',
  );
  t.equal(
    loadedPlugins([...reports('ready', 2), ...reports('disabled', 128)]),
    '2 plugins are loaded, without 128 others; stackwarden plugins lists them',
  );
});
