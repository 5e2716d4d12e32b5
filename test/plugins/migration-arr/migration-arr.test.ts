// What the applications of the family have in common is in a folder of its own: a third party moves one more of them
// with it, and without it none of them can be moved.
import { existsSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginNames, pluginsDir, startHost } from '../../support/host.ts';

const FOLDERS = ['migration-arr', 'migration-sonarr', 'postgres-migration', 'host-plugins'];
const skip = !FOLDERS.every(name => existsSync(path.join(pluginsDir, name)));

t.test('a build without it says what is missing', { skip }, async t => {
  const whole = await startHost({ plugins: FOLDERS });
  t.teardown(() => whole.stop());
  const keysOf = async (app: typeof whole) =>
    (await app.get('/host/plugins')).body.facts.postgres_migration_service_keys;
  t.same(await keysOf(whole), ['sonarr']);

  const reduced = testDir(t, {});
  for (const name of await pluginNames())
    if (name !== 'migration-arr') await symlink(path.join(pluginsDir, name), path.join(reduced, name));
  const app = await startHost({ pluginDirs: [reduced], plugins: FOLDERS.filter(name => name !== 'migration-arr') });
  t.teardown(() => app.stop());
  t.same(await keysOf(app), []);
  const { plugins } = (await app.get('/host/plugins')).body;
  t.match(
    plugins.find(({ name }: { name: string }) => name === 'migration-sonarr'),
    { state: 'skipped', reason: /migration-arr/ },
  );
});

t.test('one more of the family is moved by what is in common', { skip }, async t => {
  const configDir = testDir(t, {
    plugins: {
      'migration-readarr': {
        'index.js': `export default {
          name: 'migration-readarr',
          host: '^1',
          needs: ['migration-arr'],
          setup(host) {
            const { serviceOf } = host.use('migration.arr');
            const files = ['{config_dir}/books.db'];
            const service = serviceOf({ configKey: 'readarr', files, keyTables: ['Books'] });
            host.contribute('migration.service', 'readarr', service);
            host.route({ method: 'GET', path: '/readarr', handle: () => service });
          },
        };`,
      },
    },
  });
  const app = await startHost({ configDir, plugins: [...FOLDERS, 'migration-readarr'] });
  t.teardown(() => app.stop());
  t.same((await app.get('/host/plugins')).body.facts.postgres_migration_service_keys, ['readarr', 'sonarr']);
  const { body: service } = await app.get('/readarr');
  t.match(service, {
    configKey: 'readarr',
    keyTables: ['Books'],
    overridingVariables: ['READARR__POSTGRES__'],
    databases: [
      { name: 'readarr-main', files: ['{config_dir}/books.db'] },
      { name: 'readarr-log', files: ['{config_dir}/logs.db'] },
    ],
  });
});
