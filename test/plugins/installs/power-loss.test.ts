// A release that is in place is whole after a loss of power, and so is the previous one.
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { DISK_ONLY, makeDisk } from '../../support/power-loss.ts';
import { FIRST, install, makeShelf } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];
const NAME = 'Gadget';
const CONTENT = 'content '.repeat(50_000);

t.test('a loss of power right after an update leaves whole releases', DISK_ONLY, async t => {
  const shelf = await makeShelf(t);
  const programs = path.join(shelf.configDir, 'programs');
  await mkdir(programs);
  const disk = makeDisk(t, programs);
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME);
  const app = await startHost({
    configDir: shelf.configDir,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      gadget: { instances: { Default: block } },
    },
    pluginDirs: shelf.pluginDirs,
    plugins: PLUGINS,
    pace: 0.02,
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, NAME)).status === 'running', { what: NAME });
  for (const version of ['v1.1.0', 'v1.2.0']) {
    await shelf.publish(version, 'good', { library: CONTENT });
    t.match((await install(app, NAME)).body, { status: 'updated', current_version: version });
    await disk.lost(async found => {
      const folder = path.join(found, NAME);
      t.equal(await readFile(path.join(folder, 'version.txt'), 'utf8'), `${version}\n`);
      t.equal((await stat(path.join(folder, 'run.sh'))).size, (await stat(path.join(programs, NAME, 'run.sh'))).size);
      t.ok((await readFile(path.join(folder, 'library'), 'utf8')) === CONTENT, `${version} is whole`);
      t.same(
        (await readdir(folder)).filter(name => name.startsWith('only-in-')),
        [`only-in-${version}`],
        'and alone',
      );
    });
  }
});
