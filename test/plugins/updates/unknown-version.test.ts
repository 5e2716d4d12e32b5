// An installation after which the version of the program cannot be looked up: it is a success all the same.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { FIRST, install, makeShelf } from '../../support/shelf.ts';

const NAME = 'Gadget';
const PLUGINS = ['services', 'setup', 'updates', 'installs', 'install-shelf', 'no-versions'];
const NO_VERSIONS = `export default { name: 'no-versions', host: '^1', setup(host) {
  const refresh = async () => { throw new Error('it takes too long'); };
  host.provide('service.versions', { of: () => null, refresh, revision: 0 });
} };`;

t.test('a failed look for the version undoes no installation', async t => {
  const shelf = await makeShelf(t);
  const { configDir } = shelf;
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME, { enabled: false });
  for (const name of ['run.sh', 'version.txt']) await rm(path.join(configDir, 'programs', NAME, name));
  const plugins = path.join(configDir, 'more');
  await mkdir(path.join(plugins, 'no-versions'), { recursive: true });
  await writeFile(path.join(plugins, 'no-versions', 'index.mjs'), NO_VERSIONS);
  const app = await startHost({
    configDir,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      gadget: { instances: { Default: block } },
    },
    pluginDirs: [...shelf.pluginDirs, plugins],
    plugins: PLUGINS,
    pace: 0.02,
  });
  t.teardown(() => app.stop());
  t.match(await start(app, NAME), { status: 200 }, 'a program that was missing');
  t.equal(await shelf.present(NAME), FIRST);

  await shelf.publish('v1.1.0');
  t.match((await install(app, NAME)).body, { status: 'updated', current_version: 'v1.1.0', previous_version: FIRST });
  t.equal(await shelf.present(NAME), 'v1.1.0');
  t.equal((await status(app, NAME)).status, 'running');
});
