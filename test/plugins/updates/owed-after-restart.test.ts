// A start that an update owes when its host ends: the next host starts the service, and says so.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { status } from '../../support/kids.ts';
import { FIRST, install, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const NAME = 'Gadget';
const CLOSER = 'closes-door';
const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf', 'auto-restart', CLOSER];
const TRIED_AGAIN = /v1\.0\.0 is in place again, but not ready: no room now; .*; its start is tried again by itself$/;

t.test('the message about an owed start does not outlive the start', async t => {
  const shelf = await makeShelf(t);
  const { configDir } = shelf;
  await shelf.publish(FIRST);
  const block = await shelf.service(NAME);
  const door = path.join(configDir, 'closed');
  const plugins = path.join(configDir, 'more');
  await mkdir(path.join(plugins, CLOSER), { recursive: true });
  await writeFile(
    path.join(plugins, CLOSER, 'index.mjs'),
    `import { existsSync } from 'node:fs';
    export default { name: '${CLOSER}', host: '^1', setup(host) {
      host.tap('process.prepare', plan => {
        if (existsSync(${JSON.stringify(door)})) throw new host.Problem(503, 'no room now; make some');
        return plan;
      });
    } };`,
  );
  const options = { configDir, pluginDirs: [...shelf.pluginDirs, plugins], plugins: PLUGINS, pace: 0.02 };
  const first = await startHost({
    ...options,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      gadget: { instances: { Default: block } },
    },
  });
  t.teardown(() => first.stop());
  await until(async () => (await status(first, NAME)).status === 'running', { what: NAME });
  await shelf.publish('v1.1.0');
  await writeFile(door, '');
  const { body } = await install(first, NAME);
  t.match(body, { status: 'error', reason: 'install_failed' });
  t.match(body.message, TRIED_AGAIN);
  await first.stop();
  const { statuses } = JSON.parse(await readFile(path.join(configDir, 'update_notices.json'), 'utf8'));
  t.notOk('failed_version' in statuses[NAME], 'a schedule may install the release again');

  await rm(door);
  const second = await startHost(options);
  t.teardown(() => second.stop());
  await until(async () => (await status(second, NAME)).status === 'running', { what: NAME });
  const told = async () => (await updateStatus(second, NAME)).message;
  await until(async () => !TRIED_AGAIN.test(await told()), { what: 'another sentence' });
  t.match(await told(), /v1\.0\.0 is in place again$/);
});
