// Trimming by configuration: a plugin in `dumb.plugins.disabled` is never run; everything that needs it is gone, the rest answers.
import t from 'tap';
import { pluginsDir, startHost } from '../support/host.ts';
import { answersEverything, surface, trimmings } from '../support/surface.ts';

for (const { name, gone, expected } of await trimmings()) {
  t.test(`with ${name} in dumb.plugins.disabled`, async t => {
    const app = await startHost({ pluginDirs: [pluginsDir], config: { dumb: { plugins: { disabled: [name] } } } });
    t.teardown(() => app.stop());
    t.same(surface(app), expected);
    t.equal(app.host.plugins().find(plugin => plugin.name === name)?.state, 'disabled');
    await answersEverything(t, app, expected, gone);
  });
}
