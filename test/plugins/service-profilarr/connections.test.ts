// The connections of Profilarr: managers that want it are rows of its database, and the rows of its owner stay.
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { arr, keyOf, listener, startStack } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { until } from '../../support/until.ts';

const skip = !['integrations', 'service-arr', 'service-profilarr'].every(name =>
  existsSync(path.join(pluginsDir, name)),
);

const DAEMON = 1;
const asRoot = process.getuid?.() === 0;
const user = asRoot ? 'daemon' : '';

interface Row {
  readonly name: string;
  readonly api_key: string;
  readonly tags: string | null;
}

for (const [layout, file, table, column] of [
  ['v1', 'config/profilarr.db', 'arr_config', 'arr_server'],
  ['v2', 'config/data/profilarr.db', 'arr_instances', 'url'],
] as const) {
  t.test(`managers are rows of the layout ${layout}`, { skip }, async t => {
    const dir = testDir(t, {});
    await chmod(dir, 0o777);
    const home = path.join(dir, 'profilarr');
    const database = path.join(home, file);
    await mkdir(path.dirname(database), { recursive: true });
    if (layout === 'v2') {
      await mkdir(path.join(home, 'runtime'));
      await writeFile(path.join(home, 'runtime/profilarr'), '');
    }
    const db = new Database(database);
    db.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, type TEXT NOT NULL,
      tags TEXT, ${column} TEXT NOT NULL, api_key TEXT NOT NULL)`);
    const add = db.prepare(`INSERT INTO ${table} (name, type, tags, ${column}, api_key) VALUES (?, ?, ?, ?, ?)`);
    add.run('radarr:Default', 'radarr', '["dumb:auto","Radarr","core_service:old","mine"]', 'http://old', 'old');
    add.run('radarr:Gone', 'radarr', '["dumb:auto"]', 'http://gone', 'x');
    add.run('sonarr:Default', 'sonarr', '[]', 'http://by.hand', 'own');
    const places = [home, path.join(home, 'config'), path.dirname(database), database];
    // Only the service's user may change them.
    for (const place of asRoot ? places : []) await chown(place, DAEMON, DAEMON);
    for (const place of places) await chmod(place, 0o700);
    t.teardown(() => db.close());
    const linked = { use_profilarr: true, core_service: 'decypharr' };
    await startStack(t, dir, true, {
      radarr: { instances: { Default: await arr(dir, 'radarr', 'Radarr', linked) } },
      sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', linked) } },
      profilarr: {
        instances: {
          Default: { ...(await listener(dir, 'Profilarr', { config_dir: home, core_service: 'decypharr', user })) },
        },
      },
    });
    const rows = await until(
      () => {
        const found = db.prepare(`SELECT * FROM ${table} ORDER BY name`).all() as Row[];
        return found.length === 2 && found[0]?.api_key !== 'old' ? found : undefined;
      },
      { what: 'the rows' },
    );
    t.match(rows, [
      { name: 'radarr:Default', api_key: await keyOf(dir, 'Radarr'), [column]: /^http:\/\/127\.0\.0\.1:\d+$/ },
      { name: 'sonarr:Default', api_key: 'own', [column]: 'http://by.hand', tags: '[]' },
    ]);
    t.same(JSON.parse(rows[0]?.tags ?? ''), ['dumb:auto', 'Radarr', 'core_service:decypharr', 'mine']);
  });
}
