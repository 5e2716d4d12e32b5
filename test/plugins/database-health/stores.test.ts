// What templates declare about databases, on real files: directories, whole trees, variables that point elsewhere, and
// files that are never opened.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { isRoot, makeDatabase } from '../../support/database-health.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

t.test('databases of every declared form are found', async t => {
  const dir = testDir(t, {
    jellyfin: { data: { 'notes.txt': '', deep: {} } },
    zurg: { data: { 'a.json': '12345', more: { 'b.json': '123' } } },
    decypharr: { db: { 'entries.db': 'entries' } },
    elsewhere: {},
    library: { 'com.plexapp.plugins.library.blobs.db': 'x' },
    phalanx: {},
  });
  await chmod(dir, 0o755);
  const inside = (...parts: string[]) => path.join(dir, ...parts);
  for (const file of [inside('jellyfin/data/library.db'), inside('jellyfin/data/deep/other.sqlite3')])
    makeDatabase(file, 'delete').close();
  await symlink('/etc', inside('jellyfin/data/link'));
  await symlink('/etc', inside('zurg/data/link'));
  makeDatabase(inside('elsewhere/maintainerr.sqlite'), 'delete').close();
  makeDatabase(inside('library/library.db'), 'delete').close();
  await mkdir(inside('phalanx/data'));
  await writeFile(inside('phalanx/data/autobase_storage_v4'), 'x');
  if (isRoot) execFileSync('chown', ['-R', '65534:65534', dir]);
  const service = (processName: string, place: string, more: object = {}) => ({
    enabled: true,
    process_name: processName,
    config_dir: inside(place),
    ...more,
  });
  const ids = ['jellyfin', 'zurg:RD', 'decypharr', 'maintainerr', 'plex', 'phalanx_db'];
  const app = await startHost({
    plugins: ['database-health', 'services', 'config'],
    config: {
      jellyfin: service('Jellyfin', 'jellyfin'),
      zurg: { instances: { RD: service('Zurg', 'zurg') } },
      decypharr: service('Decypharr', 'decypharr'),
      maintainerr: service('Maintainerr', 'maintainerr', { env: { DATA_DIR: inside('elsewhere') } }),
      plex: service('Plex', 'plex', { dbrepair: { db_path: inside('library/library.db') } }),
      phalanx_db: service('Phalanx', 'phalanx'),
      tautulli: { enabled: false, process_name: 'Tautulli' },
      dumb: {
        metrics: {
          database_health: {
            enabled: true,
            services: Object.fromEntries(ids.map(id => [id, { enabled: true, mode: 'enhanced' }])),
          },
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const services: Body[] = await until(async () => {
    const { body } = await app.get('/metrics/database-health');
    return body.services.every(({ collected_at: at }: Body) => at !== null) && body.services;
  });
  t.same(
    services.map(({ process_name: name }) => name),
    ['Decypharr', 'Jellyfin', 'Maintainerr', 'Phalanx', 'Plex', 'Zurg'],
    'enabled services, by name',
  );
  const [decypharr, jellyfin, maintainerr, phalanx, plex, zurg] = services;
  t.match(decypharr, { provider: 'append-log', pressure: 'healthy' });
  t.match(decypharr.databases[0], { role: 'entries', exists: true, size_bytes: 7, enhanced_probe: false });
  t.match(decypharr.databases[1], { role: 'queue', exists: false });
  t.match(jellyfin.databases, [
    { role: 'deep/other.sqlite3', exists: true, page_count: 2 },
    { role: 'library.db', exists: true, page_count: 2 },
  ]);
  t.equal(jellyfin.databases.length, 2, 'no link is followed');
  t.match(maintainerr.databases, [{ path: inside('elsewhere/maintainerr.sqlite'), page_count: 2 }]);
  t.match(phalanx, { provider: 'hyperbee', databases: [{ store_kind: 'file', size_bytes: 1 }] });
  t.match(plex.databases[0], { path: inside('library/library.db'), enhanced_probe: false, notice: /outside/ });
  t.notOk('page_count' in plex.databases[0], 'never opened');
  t.match(plex.databases[1], { path: inside('library/com.plexapp.plugins.library.blobs.db'), exists: true }, 'beside');
  t.match(zurg, {
    id: 'zurg:RD',
    provider: 'zurg-state',
    databases: [{ store_kind: 'directory', file_count: 2, size_bytes: 8, scan_truncated: false }],
  });
});
