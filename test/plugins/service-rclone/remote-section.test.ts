// The section of a remote in rclone's file when the remote becomes another: the login of the former one goes, and keys
// of users stay.
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { restart, start } from '../../support/kids.ts';

const PLUGINS = ['config', 'process', 'services', 'setup', 'config-files', 'format-conf', 'service-rclone'];
const skip = !PLUGINS.every(name => existsSync(path.join(pluginsDir, name)));
const PROGRAM = `#!/bin/sh
[ "$1" = obscure ] && { cat > /dev/null; echo a-form; exit; }
exec sleep 600
`;

t.test('a remote of another provider has nothing of the former one', { skip }, async t => {
  const dir = testDir(t, { bin: { rclone: PROGRAM }, home: {}, mounts: {}, cache: {} });
  for (const place of ['.', 'bin', 'bin/rclone', 'home', 'mounts', 'cache']) await chmod(path.join(dir, place), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${path.join(dir, 'bin')}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  const file = path.join(dir, 'home', 'rclone.config');
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      rclone: {
        instances: {
          Films: {
            enabled: false,
            process_name: 'Films',
            command: [path.join(dir, 'bin/rclone'), 'mount', 'films:', path.join(dir, 'mounts/films')],
            config_dir: path.join(dir, 'home'),
            config_file: file,
            cache_dir: path.join(dir, 'cache'),
            mount_dir: path.join(dir, 'mounts'),
            mount_name: 'films',
            log_file: 'films.log',
            zurg_enabled: false,
            key_type: 'RealDebrid',
            username: 'somebody',
            password: 'secret',
          },
        },
      },
    },
  });
  t.teardown(() => app.stop());
  const section = async () => (await readFile(file, 'utf8')).trim().split('\n');
  const become = async (updates: object) => {
    t.equal((await app.post('/config', { process_name: 'Films', updates })).status, 200);
    t.equal((await restart(app, 'Films')).status, 200);
    return section();
  };

  const answer = await start(app, 'Films');
  t.equal(answer.status, 200, answer.text);
  const webdav = ['[films]', 'type = webdav', 'url = https://dav.real-debrid.com/', 'vendor = other'];
  t.same(await section(), [...webdav, 'user = somebody', 'pass = a-form']);

  await writeFile(file, `${(await section()).join('\n')}\npacer_min_sleep = 5ms\n`);
  t.same(await become({ key_type: 'AllDebrid', api_key: 'the-key' }), [
    ...['[films]', 'type = webdav', 'url = https://webdav.debrid.it/', 'vendor = other'],
    ...['user = the-key', 'pacer_min_sleep = 5ms'],
  ]);
  t.same((await become({ key_type: 'TorBoxFTP' })).sort(), [
    ...['[films]', 'host = ftp.torbox.app', 'pacer_min_sleep = 5ms', 'pass = a-form', 'type = ftp', 'user = somebody'],
  ]);
});
