// An update whose disk is full after the stop of its service, so that the service cannot be started either: this is
// reported, and the service runs as soon as there is room.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { ROOT_ONLY } from '../../support/race.ts';
import { FIRST, install, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf', 'auto-restart'];
const NAME = 'Gadget';
const TRIED_AGAIN = /v1\.0\.0 is in place again, but not ready: .* cannot be .*; its start is tried again by itself$/;

t.test('the service starts once a full disk has room again', ROOT_ONLY, async t => {
  const shelf = await makeShelf(t);
  const { configDir } = shelf;
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755,size=16m,nr_inodes=300', 'tmpfs', configDir]);
  t.teardown(() => execFileSync('umount', ['-l', configDir]));
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME, { stop_grace_seconds: 20 }, 'fills');
  const app = await startHost({
    configDir,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      gadget: { instances: { Default: block } },
    },
    pluginDirs: shelf.pluginDirs,
    plugins: PLUGINS,
    pace: 0.02,
  });
  t.teardown(() => app.stop());
  const isUp = () => until(async () => (await status(app, NAME)).status === 'running', { what: NAME });
  await isUp();
  // The update reports the version, and it is looked up again after a start.
  const version = async () => (await app.get(`/process?process_name=${NAME}`)).body.version;
  await until(async () => (await version()) === FIRST, { what: 'its version' });
  const data = path.join(configDir, 'programs', NAME, 'data');
  let others = 0;
  // Also takes the room that the host frees.
  const filler = setInterval(() => {
    try {
      for (; existsSync(path.join(data, 'fill-0')); others += 1)
        writeFileSync(path.join(configDir, `other-${others}`), '', { flag: 'wx' });
    } catch {
      // The disk is full.
    }
  }, 1);
  t.teardown(() => clearInterval(filler));
  await shelf.publish('v1.1.0');
  const { body } = await install(app, NAME);
  t.match(body, { status: 'error', reason: 'install_failed', current_version: FIRST });
  t.match(body.message, TRIED_AGAIN);

  const filled = async (directory: string, begin: string) =>
    (await readdir(directory)).filter(name => name.startsWith(begin)).map(name => path.join(directory, name));
  clearInterval(filler);
  for (const file of [...(await filled(data, 'fill-')), ...(await filled(configDir, 'other-'))]) await rm(file);
  await mkdir(path.join(data, 'fill-0'));
  await isUp();
  t.equal(await shelf.present(NAME), FIRST);
  await until(async () => !TRIED_AGAIN.test((await updateStatus(app, NAME)).message), { what: 'another sentence' });
  t.match((await updateStatus(app, NAME)).message, /v1\.0\.0 is in place again$/);
});
