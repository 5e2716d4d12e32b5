// Trimming by configuration: a plugin in `dumb.plugins.disabled` is gone with everything that needs it, the rest
// answers, and taken off the list it is back. One host lives through all of it; another starts with all of them off.
import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { startHost, type TestHost } from '../support/host.ts';
import { answersEverything, surface, trimmings, untilOffers } from '../support/surface.ts';
import { until } from '../support/until.ts';

/** Through the file: the route that changes the configuration is a plugin's too. */
async function disable(app: TestHost, names: readonly string[]): Promise<void> {
  const file = app.host.configFile;
  const config = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...config, dumb: { ...config.dumb, plugins: { disabled: names } } }));
}

t.test('a few after the other', async t => {
  const app = await startHost({ plugins: 'all' });
  t.teardown(() => app.stop());
  const whole = surface(app);
  const all = await trimmings(app);
  for (const { names, gone, expected } of all) {
    await disable(app, names);
    await untilOffers(app, expected);
    const stateOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.state;
    // What it offered goes before it is told as disabled.
    await until(() => names.every(name => stateOf(name) === 'disabled'), { what: `${names.join()} to be disabled` });
    await answersEverything(t, app, expected, gone);
  }
  await disable(app, []);
  await untilOffers(app, whole);
  await answersEverything(t, app, whole, []);
  for (const { name, state } of app.host.plugins()) t.equal(state, 'ready', name);
});

t.test('the code of a plugin that is disabled at the start is never run', async t => {
  const place = Symbol.for('the plugin was imported');
  const pluginDirs = [
    t.testdir({
      loud: {
        'index.mjs': `globalThis[Symbol.for('the plugin was imported')] = true;
          export default { name: 'loud', host: '^1', setup() {} }`,
      },
    }),
  ];
  const app = await startHost({ pluginDirs, config: { dumb: { plugins: { disabled: ['loud'] } } } });
  t.teardown(() => app.stop());
  t.match(app.host.plugins(), [{ name: 'loud', state: 'disabled' }]);
  t.notOk(place in globalThis);
});
