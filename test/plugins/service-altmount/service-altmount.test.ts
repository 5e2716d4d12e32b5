// AltMount's own file: entries of media managers come and go with their link, and what people wrote stays.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { arr, listener, startStack } from '../../support/arr-stack.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-altmount', 'service-arr', 'setup'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('entries of media managers are added and removed, and categories at the first start', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const file = path.join(dir, 'config.yaml');
  const mine = { name: 'mine', url: 'http://nas:8989', api_key: 'x', enabled: false };
  const gone = { name: 'sonarr:Gone', url: 'http://127.0.0.1:1', api_key: 'old', enabled: true };
  await writeFile(file, stringify({ arrs: { sonarr_instances: [mine, gone] } }));
  await chmod(file, 0o666);
  await mkdir(path.join(dir, 'mount'));
  const host = await startStack(t, dir, true, {
    altmount: {
      ...(await listener(dir, 'AltMount')),
      env: { ALTMOUNT_API_KEY: 'a-key-of-altmount' },
      config_file: file,
      log_file: path.join(dir, 'altmount.log'),
      metadata_dir: path.join(dir, 'metadata'),
      mount_path: path.join(dir, 'mount'),
    },
    sonarr: { instances: { Default: await arr(dir, 'sonarr', 'Sonarr', { core_service: 'altmount' }) } },
  });
  const known = await until(
    async () => {
      const { arrs, sabnzbd } = parse(await readFile(file, 'utf8'));
      return arrs.sonarr_instances.some(({ name }: { name: string }) => name === 'sonarr:Default') && { arrs, sabnzbd };
    },
    { what: 'the manager that makes its key at its first start' },
  );
  const { port } = (await host.get('/process?process_name=Sonarr')).body.config;
  t.match(known.arrs.sonarr_instances, [
    mine,
    { name: 'sonarr:Default', url: `http://127.0.0.1:${port}`, enabled: true },
  ]);
  t.equal(known.arrs.sonarr_instances.length, 2, 'one whose manager is gone went with it');
  t.same(
    known.sabnzbd.categories.map(({ name }: { name: string }) => name),
    ['Default', 'movies', 'tv', 'music', 'adult'],
  );
});

t.test('mount, level and database in the file follow the block', { skip }, async t => {
  const dir = testDir(t, { mount: {} });
  await chmod(dir, 0o777);
  const file = path.join(dir, 'config.yaml');
  const program = path.join(dir, 'altmount');
  await noting(program);
  const app = await startHost({
    plugins: [
      'config',
      'process',
      'services',
      'setup',
      'config-files',
      'format-yaml',
      'service-altmount',
      'service-postgres',
    ],
    config: {
      postgres: { port: 5_999, user: 'keeper', password: 'p@ss' },
      altmount: {
        process_name: 'AltMount',
        port: await freePort(),
        command: [program],
        config_dir: dir,
        config_file: file,
        log_file: path.join(dir, 'own.log'),
        metadata_dir: path.join(dir, 'metadata'),
        mount_path: path.join(dir, 'mount'),
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'AltMount');
  t.equal(answer.status, 200, answer.text);
  const first = parse(await readFile(file, 'utf8'));
  t.match(first, { mount_type: 'rclone', mount_path: path.join(dir, 'mount'), log: { level: 'info' } });
  t.same(first.database, { path: path.join(dir, 'altmount.db') }, 'its own');
  const { env } = await seenBy(program);
  t.match(env.JWT_SECRET, /^[0-9a-f]{64}$/, 'logins outlive a restart');
  t.equal(first.api.key_override, env.ALTMOUNT_API_KEY);

  const updates = {
    log_level: 'WARNING',
    postgres_enabled: true,
  };
  t.match(await app.post('/config', { process_name: 'AltMount', updates }), { status: 200 });
  for (const [chosen, told] of [
    ['dfs', 'fuse'],
    ['external_rclone', 'rclone_external'],
    ['none', 'none'],
  ]) {
    await app.post('/config', { process_name: 'AltMount', updates: { mount_type: chosen } });
    t.equal((await restart(app, 'AltMount')).status, 200);
    t.equal(parse(await readFile(file, 'utf8')).mount_type, told);
  }
  t.match(parse(await readFile(file, 'utf8')), {
    log: { level: 'warn' },
    database: { type: 'postgres', dsn: 'postgres://keeper:p%40ss@127.0.0.1:5999/altmount' },
  });

  await app.post('/config', { process_name: 'AltMount', updates: { postgres_enabled: false } });
  t.equal((await restart(app, 'AltMount')).status, 200);
  const left = { type: 'sqlite', dsn: '', path: path.join(dir, 'altmount.db') };
  t.same(parse(await readFile(file, 'utf8')).database, left, 'the switch brings it back to its own file');
  const elsewhere = { type: 'postgres', dsn: 'postgres://me@nas:5999/altmount' };
  await writeFile(file, stringify({ database: elsewhere }));
  t.equal((await restart(app, 'AltMount')).status, 200);
  t.match(parse(await readFile(file, 'utf8')).database, elsewhere, 'a server of its owner stays');
});
