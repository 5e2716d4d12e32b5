// Starts real rclone mounts of files that a stand-in for a service serves, on a host with its own mount table and its
// own rules for FUSE.
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { programOf } from './debian.ts';
import { testDir } from './directory.ts';
import { NOBODY } from './race.ts';
import { freePort, startStackwarden, writeConfig } from './stackwarden.ts';
import { templatesOf } from './templates.ts';
import { until } from './until.ts';

const PLUGINS = [
  'config',
  'config-files',
  'format-conf',
  'health-probe',
  'process',
  'service-rclone',
  'services',
  'setup',
];
const PREPARE = 'mount --bind "$1/fuse.conf" /etc/fuse.conf && mount --bind "$1/fuse" /dev/fuse && shift && exec "$@"';

/**
 * Starts `Decypharr` and the mounts of its files. `userMounts`: whether the services' user may mount for others.
 * `script`: the command that the configuration file of each mount names. It runs in `own`; the services' user owns that
 * file.
 */
export async function startMounts(
  t: Test,
  names: readonly string[],
  { userMounts, script = '' }: { userMounts: boolean; script?: string },
) {
  const rclone = await programOf(['rclone'], ['rclone']);
  await programOf(['fusermount3', 'fusermount'], ['fuse3']);
  const dir = testDir(t, {
    files: { 'film.txt': 'a film' },
    own: {},
    'fuse.conf': userMounts ? 'user_allow_other\n' : '',
  });
  for (const place of ['', 'files']) await chmod(path.join(dir, place), 0o755);
  const own = path.join(dir, 'own');
  await chown(own, NOBODY, NOBODY);
  execFileSync('mknod', ['-m', '666', path.join(dir, 'fuse'), 'c', '10', '229']);
  const configDir = path.join(dir, 'config');
  const templates = path.join(configDir, 'templates/services');
  await mkdir(templates, { recursive: true });
  const decypharr = {
    key: 'decypharr',
    displayName: 'Decypharr',
    kind: 'core',
    description: 'A download bridge.',
    links: {},
    block: { enabled: false, process_name: 'Decypharr' },
    stop: { tier: 3 },
    serves: (await templatesOf()).get('decypharr')?.serves,
  };
  await writeFile(path.join(templates, 'decypharr.json'), JSON.stringify(decypharr));
  const serve = [
    rclone,
    'serve',
    'webdav',
    path.join(dir, 'files'),
    '--addr',
    '127.0.0.1:{port}',
    '--baseurl',
    '/webdav',
  ];
  await writeFile(path.join(own, 'token.sh'), `cd '${own}'; ${script}`);
  const instances: Record<string, object> = {};
  for (const name of names) {
    const file = path.join(own, `${name}.config`);
    await writeFile(file, script === '' ? '' : `[${name}]\nbearer_token_command = sh ${own}/token.sh\n`, {
      mode: 0o600,
    });
    await chown(file, NOBODY, NOBODY);
    instances[name] = {
      enabled: false,
      process_name: name,
      zurg_enabled: false,
      decypharr_enabled: true,
      command: [],
      config_dir: own,
      config_file: file,
      cache_dir: path.join(own, `${name}.cache`),
      mount_dir: path.join(dir, 'mnt'),
      mount_name: name,
      log_file: path.join(dir, 'log', `${name}.log`),
    };
  }
  const port = await writeConfig(configDir, {
    data_root: dir,
    decypharr: { port: await freePort(), command: serve, config_dir: dir },
    rclone: { instances },
  });
  const within = ['unshare', '--mount', 'sh', '-c', PREPARE, 'sh', dir];
  const host = await startStackwarden(configDir, port, { within, plugins: PLUGINS });
  t.teardown(async () => {
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const call = async (place: string, init?: object) => {
    const answer = await fetch(host.base + place, init);
    return { status: answer.status, body: (await answer.json()) as Record<string, string | object> };
  };
  const post = (place: string, name: string) =>
    call(place, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: name }),
    });
  const start = (name: string) => post('/process/start-service', name);
  const served = await start('Decypharr');
  t.equal(served.status, 200, JSON.stringify(served.body));
  return {
    dir,
    own,
    start,
    stop: (name: string) => post('/process/stop-service', name),
    status: async (name: string) =>
      (await call(`/process/service-status?include_health=true&process_name=${name}`)).body,
    pidOf: async (name: string): Promise<number> =>
      JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8')).processes[name].pid,
    film: (name: string) =>
      until(() => readFile(path.join(`/proc/${host.child.pid}/root`, dir, 'mnt', name, 'film.txt'), 'utf8'), {
        what: 'the mounted film',
      }),
  };
}
