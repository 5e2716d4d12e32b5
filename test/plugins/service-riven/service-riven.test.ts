// The environment of Riven: keys of attached providers, and the directory of its mount.
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['service-riven', 'setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('variables follow from the attached components', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const seen = path.join(dir, 'seen');
  const attached = (name: string, more: object) => ({
    enabled: true,
    process_name: name,
    config_dir: dir,
    core_service: 'riven_backend',
    command: ['sleep', '600'],
    ...more,
  });
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-riven'],
    config: {
      riven_backend: {
        process_name: 'Riven',
        config_dir: dir,
        log_file: path.join(dir, 'riven.log'),
        symlink_library_path: path.join(dir, 'library'),
        command: ['sh', '-c', `env > ${seen}; exec sleep 600`],
        env: { RIVEN_FILESYSTEM_MOUNT_PATH: '/somewhere/else' },
      },
      zurg: { instances: { Mine: attached('Zurg', { key_type: 'Real-Debrid', api_key: 'the-key', port: 9_100 }) } },
      rclone: {
        instances: {
          Mine: attached('Mount', { mount_dir: '/mnt/mine', mount_name: 'films', key_type: 'RealDebrid' }),
          Other: attached('Other mount', { core_service: 'decypharr', mount_dir: '/mnt/other', mount_name: 'x' }),
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Riven');
  t.equal(answer.status, 200, answer.text);
  const lines = await until(async () => (await readFile(seen, 'utf8')).split('\n'));
  for (const line of [
    'RIVEN_DOWNLOADERS_REAL_DEBRID_API_KEY=the-key',
    'RIVEN_SYMLINK_RCLONE_PATH=/mnt/mine/films/__all__',
    'RIVEN_FILESYSTEM_MOUNT_PATH=/somewhere/else',
  ])
    t.ok(lines.includes(line), line);
});

t.test('a release built from sources mounts its files itself', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const seen = path.join(dir, 'seen');
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-riven'],
    config: {
      riven_backend: {
        process_name: 'Riven',
        config_dir: dir,
        log_file: path.join(dir, 'riven.log'),
        symlink_library_path: path.join(dir, 'library'),
        branch_enabled: true,
        command: ['sh', '-c', `env > ${seen}; exec sleep 600`],
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Riven');
  t.equal(answer.status, 200, answer.text);
  const lines = await until(async () => (await readFile(seen, 'utf8')).split('\n'));
  for (const name of ['RIVEN_FILESYSTEM_MOUNT_PATH', 'RIVEN_UPDATERS_LIBRARY_PATH'])
    t.ok(lines.includes(`${name}=/mnt/debrid/riven`), name);
});

t.test('a boot waits for the mount of its files if it needs one', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const block = { config_dir: dir, symlink_library_path: path.join(dir, 'library'), command: ['sleep', '600'] };
  const films = {
    process_name: 'Films',
    enabled: true,
    autostart: false,
    core_service: 'riven_backend',
    key_type: 'RealDebrid',
    mount_dir: path.join(dir, 'mounts'),
    mount_name: 'films',
    command: ['sleep', '600'],
  };
  const open = async (more: object) => {
    const app = await startHost({
      plugins: ['config', 'process', 'services', 'setup', 'service-riven'],
      config: {
        dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
        riven_backend: {
          ...block,
          process_name: 'Riven',
          enabled: true,
          port: await freePort(),
          log_file: path.join(dir, 'own.log'),
          ...more,
        },
        rclone: { instances: { Mine: films } },
      },
    });
    t.teardown(() => app.stop());
    return app;
  };
  const waiting = await open({});
  const line = `Riven waits for mount ${path.join(dir, 'mounts', 'films')}`;
  await until(async () => (await ownLog(waiting)).some(text => text.includes(line)), { what: line });
  t.not((await status(waiting, 'Riven')).status, 'running');
  await waiting.stop();
  const fromSources = await open({ branch_enabled: true });
  await until(async () => (await status(fromSources, 'Riven')).status === 'running', {
    what: 'one that mounts itself',
  });
});
