// A host that is killed while a package manager installs an update: the next host completes the update or takes it
// back, and tells which.
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { makeShop } from '../../support/shop.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';
import { openUpdatingHost, type UpdatingHost } from '../../support/updating-host.ts';

const PLUGINS = ['config', 'process', 'auto-restart', 'health-probe', 'updates', 'installs', 'own-shop'];
const NAME = 'System';

t.test('an update that is placed in the machine is completed by the next host', async t => {
  const shop = await makeShop(t);
  const { configDir } = shop;
  const root = path.dirname(configDir);
  const [program, facts] = [path.join(root, 'system-program.sh'), path.join(root, 'shop')];
  await shop.publish('v1.0.0');
  const block = { enabled: false, process_name: NAME, command: [], config_dir: '', auto_update: false };
  await shop.template(
    'system',
    {
      source: 'counter',
      facts: { program, shop: facts },
      directory: undefined,
      markers: [program],
      versionFile: undefined,
    },
    { launch: { command: ['sh', program] }, block },
  );
  const port = await writeConfig(configDir, {
    system: { instances: { [NAME]: shop.block(NAME, { enabled: true }) } },
    dumb: {
      startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 },
      plugins: { dirs: [path.join(root, 'plugins')] },
    },
  });
  const open = () => openUpdatingHost(configDir, { name: NAME, port, plugins: PLUGINS });
  const placed = () => readFile(program, 'utf8');
  /** Kills the host while it updates the service to this release. */
  const killMeanwhile = async ({ host, install }: UpdatingHost, version: string) => {
    await shop.publish(version);
    await writeFile(path.join(facts, 'busy'), '');
    await rm(path.join(facts, 'placing'));
    const answer = install().catch(() => undefined);
    await until(() => existsSync(path.join(facts, 'placing')), { what: 'the package manager to begin' });
    host.child.kill('SIGKILL');
    await Promise.all([answer, host.exited]);
    await rm(path.join(facts, 'busy'));
    await until(async () => (await placed()).includes(version), { what: 'the package manager to go on' });
  };
  const infoOf = async ({ json }: UpdatingHost) => (await json(`/process?process_name=${NAME}`)).install_info;

  const first = await open();
  t.match(await placed(), /v1/);
  await killMeanwhile(first, 'v2.0.0');
  const second = await open();
  t.match(await second.status(), { status: 'updated', current_version: 'v2.0.0', previous_version: 'v1.0.0' });
  t.match(await infoOf(second), { version: 'v2.0.0', previous_version: 'v1.0.0' });

  await killMeanwhile(second, 'v6.6.6');
  const third = await open();
  const message = 'Stackwarden ended during the update; v2.0.0 is in place';
  t.match(await third.status(), { status: 'error', current_version: 'v2.0.0', message });
  t.match(await infoOf(third), { version: 'v2.0.0' });
  t.match(await placed(), /v2/, 'what cannot be placed is taken back');
  third.host.child.kill('SIGTERM');
  await third.host.exited;
});
