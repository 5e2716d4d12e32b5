// Trimming by folder: a host without a plugin's folder lacks exactly what that plugin owned, and answers everything else.
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { pluginNames, pluginsDir, startHost } from '../support/host.ts';
import { answersEverything, surface, trimmings } from '../support/surface.ts';

for (const { name, gone, expected } of await trimmings()) {
  t.test(`without the folder of ${name}`, async t => {
    const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-plugins-'));
    t.teardown(() => rm(directory, { recursive: true }));
    for (const other of await pluginNames())
      if (other !== name) await symlink(path.join(pluginsDir, other), path.join(directory, other));
    const app = await startHost({ pluginDirs: [directory] });
    t.teardown(() => app.stop());
    t.same(surface(app), expected);
    await answersEverything(t, app, expected, gone);
  });
}
