// Trimming by folder: a host whose plugins' folders go lacks exactly what these plugins owned, and answers everything
// else. One host lives through the removal of all.
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { pluginNames, pluginsDir, startHost } from '../support/host.ts';
import { answersEverything, surface, trimmings, untilOffers } from '../support/surface.ts';
import { until } from '../support/until.ts';

t.test('a few folders after the other', async t => {
  const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-plugins-'));
  t.teardown(() => rm(directory, { recursive: true }));
  const link = (name: string) => symlink(path.join(pluginsDir, name), path.join(directory, name));
  for (const name of await pluginNames()) await link(name);
  const app = await startHost({ pluginDirs: [directory] });
  t.teardown(() => app.stop());
  const whole = surface(app);
  for (const { names, gone, expected } of await trimmings(app)) {
    for (const name of names) await rm(path.join(directory, name));
    await untilOffers(app, expected);
    const isKnown = (name: string) => app.host.plugins().some(plugin => plugin.name === name);
    // What it offered goes before the plugin itself.
    await until(() => !names.some(isKnown), { what: `${names.join()} to be forgotten` });
    for (const name of names) t.notOk(isKnown(name), `${name} is not known any more`);
    await answersEverything(t, app, expected, gone);
    for (const name of names) await link(name);
    await untilOffers(app, whole);
  }
  await answersEverything(t, app, whole, []);
});
