// The list of plugins: what each one registered, and why a plugin is missing.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';

const skip = !existsSync(path.join(pluginsDir, 'host-plugins'));

t.test('every plugin is listed, with its reason if it failed', { skip }, async t => {
  const configDir = testDir(t, {});
  const folder = path.join(configDir, 'plugins', 'broken');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    "export default { name: 'broken', host: '^1', setup() { throw new Error('it has no parts') } };\n",
  );
  const app = await startHost({ configDir, config: {}, plugins: ['config', 'host-plugins', 'broken'] });
  t.teardown(() => app.stop());
  const { plugins } = (await app.get('/host/plugins')).body;
  const row = (name: string) => plugins.find((plugin: { name: string }) => plugin.name === name);
  t.match(row('host-plugins'), { state: 'ready', routes: ['GET /host/plugins'], errors: {} });
  t.match(row('broken'), { state: 'failed', reason: /it has no parts/ });
  t.match(row('gateway'), { state: 'disabled' });
});

t.test('lists of plugins stand beside the flags', { skip }, async t => {
  const configDir = testDir(t, {});
  const folder = path.join(configDir, 'plugins', 'teller');
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    `export default { name: 'teller', host: '^1', setup(host) {
      host.contribute('host.fact', 'migration_keys', { values: () => ['radarr'] });
      host.contribute('host.fact', 'broken_keys', { values: () => { throw new Error('not today'); } });
    } };\n`,
  );
  const plugins = ['config', 'host-plugins', 'teller', 'database-health', 'services'];
  const app = await startHost({ configDir, config: {}, plugins: plugins.filter(isThere) });
  t.teardown(() => app.stop());
  const { facts } = (await app.get('/host/plugins')).body;
  t.same(facts.migration_keys, ['radarr']);
  t.notOk('broken_keys' in facts, 'a list that cannot be told is left out');
  if (plugins.every(isThere)) {
    const keys: string[] = facts.database_health_service_keys;
    t.ok(
      ['sonarr', 'plex', 'zurg'].every(key => keys.includes(key)),
      'the services that keep databases',
    );
    t.notOk(keys.includes('rclone'), 'and no others');
  }
});

function isThere(name: string): boolean {
  return name === 'teller' || existsSync(path.join(pluginsDir, name));
}
