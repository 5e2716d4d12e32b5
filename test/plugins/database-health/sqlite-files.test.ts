// Real SQLite files in every state on a running host, and what an examination must not do to them.
import { execFileSync, spawn } from 'node:child_process';
import { chmod, chown, mkdir, readdir, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import {
  filmPlace,
  firstDatabase,
  freshHealth,
  give,
  isRoot,
  makeDatabase,
  startHealth,
} from '../../support/database-health.ts';

const locker = fileURLToPath(new URL('../../support/sqlite-lock.cjs', import.meta.url));

t.test('a database in use is examined', async t => {
  const { dir, main, block } = await filmPlace(t);
  const db = makeDatabase(main);
  t.teardown(() => db.close());
  await give(main, `${main}-wal`, `${main}-shm`);
  const app = await startHealth(t, block);
  const service = await freshHealth(app);
  t.match(service, {
    id: 'radarr:Default',
    config_key: 'radarr',
    instance_name: 'Default',
    process_name: 'Films',
    provider: 'sqlite',
    monitoring_enabled: true,
    mode: 'enhanced',
    ignore_network_storage: false,
    pressure: 'healthy',
    log_signals: { locked: 0, busy: 0, timeout: 0, io_error: 0, deadlock: 0 },
    log_source: { available: false },
  });
  t.same(Object.keys(service.log_signals), ['locked', 'busy', 'timeout', 'io_error', 'deadlock']);
  t.match(service.databases[0], {
    role: 'main',
    path: main,
    exists: true,
    enhanced_probe: true,
    journal_mode: 'wal',
    page_size: 4096,
    freelist_count: 0,
    schema_version: 1,
    store_kind: 'file',
    storage: { network: false, mount_point: String, fs_type: String, used_percent: Number },
  });
  t.ok(service.databases[0].wal_size_bytes > 0);
  t.ok(service.databases[0].page_count >= 2);
  t.type(service.databases[0].probe_ms, 'number');
  t.match(service.databases[1], { role: 'logs', exists: false, error: 'It does not exist' });
  t.match((await app.get('/metrics')).body.database_health, { supported_count: 1, monitored_count: 1 });
  t.same((await readdir(dir)).sort(), ['radarr.db', 'radarr.db-shm', 'radarr.db-wal'], 'nothing was made');

  const { body } = await app.get('/metrics/database-health?process_name=nobody');
  t.match(body, { supported_count: 0, services: [] });
  t.equal((await app.get('/metrics/database-health?refresh=maybe')).status, 422);
});

t.test('a database at rest is not touched', async t => {
  const { dir, main, block } = await filmPlace(t);
  makeDatabase(main).close();
  await give(main);
  const before = await stat(main);
  const app = await startHealth(t, block);
  t.match(await firstDatabase(app), {
    exists: true,
    journal_mode: 'wal',
    page_count: 2,
    schema_version: 1,
    enhanced_probe: true,
  });
  t.same(await readdir(dir), ['radarr.db'], 'no file was made beside it');
  t.equal((await stat(main)).mtimeMs, before.mtimeMs);

  await writeFile(`${main}-wal`, '');
  await truncate(`${main}-wal`, 300 * 1_048_576);
  await give(`${main}-wal`);
  const service = await freshHealth(app);
  t.match(service.databases[0], { wal_size_bytes: 300 * 1_048_576, notice: /not closed in order/ });
  t.equal(service.databases[0].probe_error, undefined);
  t.match(
    service,
    { score: 35, pressure: 'moderate', probe_notice: /not closed/ },
    'a huge log that nobody has taken over',
  );
});

t.test('a locked database is reported as locked', async t => {
  const { main, block } = await filmPlace(t);
  makeDatabase(main, 'delete').close();
  await give(main);
  const holder = spawn(process.execPath, [locker, main], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => holder.stdin.end());
  await new Promise(resolve => holder.stdout.once('data', resolve));
  const app = await startHealth(t, block);
  const service = await freshHealth(app);
  t.match(service.databases[0], { exists: true, probe_error: /locked/ });
  t.ok(service.databases[0].probe_ms >= 2_000, 'it waited for its turn');
  t.equal(service.score, 50, 'late, and failed');
  t.match(service.reasons, [/slowly/, /could not be read/]);
});

t.test('missing and damaged files are reported', async t => {
  const { main, block } = await filmPlace(t);
  const app = await startHealth(t, block);
  t.match(await firstDatabase(app), { exists: false, error: 'It does not exist' });
  t.equal((await freshHealth(app)).pressure, 'unavailable');

  await writeFile(main, 'x'.repeat(9_000));
  await give(main);
  t.match(await firstDatabase(app), { exists: true, size_bytes: 9_000, probe_error: /no SQLite database/ });

  const header = Buffer.alloc(8_192, 0xff);
  header.write('SQLite format 3\0', 'latin1');
  await writeFile(main, header);
  t.type((await firstDatabase(app)).probe_error, 'string', 'damaged behind its first bytes');

  execFileSync('rm', [main]);
  execFileSync('mkfifo', [main]);
  t.match(await firstDatabase(app), { exists: false, error: /no regular file/ });

  execFileSync('rm', [main]);
  await mkdir(main);
  t.match(await firstDatabase(app), { exists: false, error: /no regular file/ });
});

t.test('a link to an unreadable file is not followed', { skip: isRoot ? false : 'needs root' }, async t => {
  const { dir, main, block } = await filmPlace(t);
  const secret = path.join(dir, '..', 'secret.db');
  makeDatabase(secret, 'delete').close();
  await chmod(secret, 0o600);
  await symlink(secret, main);
  const app = await startHealth(t, block);
  const database = await firstDatabase(app);
  t.match(database.probe_error, /permission|access/i);
  t.notOk('page_count' in database, 'nothing of it is told');
});

t.test('a database in an unwritable directory is examined', { skip: isRoot ? false : 'needs root' }, async t => {
  const { dir, main, block } = await filmPlace(t);
  const db = makeDatabase(main);
  t.teardown(() => db.close());
  await chown(dir, 0, 0);
  await chmod(main, 0o644);
  for (const end of ['-wal', '-shm']) await chmod(main + end, 0o600);
  const app = await startHealth(t, block);
  const database = await firstDatabase(app);
  t.match(database, { exists: true, notice: /without writing beside it/ });
  t.notOk('probe_error' in database);
});
