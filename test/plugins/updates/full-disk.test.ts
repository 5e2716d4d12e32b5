// An update that finds a full disk only after the stop of the service: the old release runs on, the next attempt
// succeeds, and a schedule may make it.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { FIRST, install, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];
const NAME = 'Gadget';

t.test('a full disk at the swap keeps the old release', ROOT_ONLY, async t => {
  const shelf = await makeShelf(t);
  const folder = path.join(shelf.configDir, 'programs', NAME);
  await mkdir(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755,size=8m,nr_inodes=60', 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', ['-l', folder]));
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME, { stop_grace_seconds: 20 }, 'fills');
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
  /** The release that a schedule does not install again. */
  const barred = async () =>
    JSON.parse(await readFile(path.join(shelf.configDir, 'update_notices.json'), 'utf8')).statuses[NAME].failed_version;
  const isUp = () => until(async () => (await status(app, NAME)).status === 'running', { what: NAME });
  await isUp();
  await shelf.publish('v1.1.0');
  const { body } = await install(app, NAME);
  t.match(body, { status: 'error', reason: 'install_failed', current_version: FIRST });
  t.equal(
    body.message,
    `the file system of ${folder} is full (no space or no inode left); remove files there; ${FIRST} is in place again`,
  );
  t.match(await updateStatus(app, NAME), { status: 'error', message: body.message });
  t.equal((await status(app, NAME)).status, 'running');
  t.equal(await shelf.present(NAME), FIRST);
  t.equal(await barred(), undefined);

  const data = path.join(folder, 'data');
  await until(async () => (await readdir(path.join(folder, '.stackwarden'))).length === 0, { what: 'the draft to go' });
  const filled = (await readdir(data)).filter(name => name.startsWith('fill-'));
  t.ok(filled.length > 0);
  // Another stop would fill the disk again.
  for (const name of filled) await rm(path.join(data, name));
  await mkdir(path.join(data, 'fill-0'));
  t.match((await install(app, NAME)).body, { status: 'updated', current_version: 'v1.1.0' });
  t.equal(await shelf.present(NAME), 'v1.1.0');

  execFileSync('mount', ['-o', 'remount,ro', folder]);
  await shelf.publish('v1.2.0');
  const refused = (await install(app, NAME)).body;
  t.match(refused, { status: 'error', current_version: 'v1.1.0' });
  t.equal(refused.message, `the file system of ${folder} is read-only; mount it so that it can be written`);
  t.equal((await status(app, NAME)).status, 'running');
  t.equal(await barred(), undefined);
});
