// The preparation of a known service before its launch: command, variables, secrets, directories and files, or one
// clear line about an obstacle.
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { restart, start, stop } from '../../support/kids.ts';
import { mountLinks } from '../../support/link-mount.ts';
import { noting, seenBy } from '../../support/seen.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['setup', 'services', 'config-files', 'format-xml', 'format-yaml'].every(name =>
  existsSync(path.join(pluginsDir, name, 'index.ts')),
);
const root = process.getuid?.() === 0;
const NOBODY = 65_534;
const DAEMON = { uid: 1, gid: 1 };
const saved = async (app: TestHost) => JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8'));

t.test('directories, files, variables and secrets are prepared', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const environment = path.join(dir, 'environment');
  await writeFile(environment, '');
  await chmod(environment, 0o666);
  const tell = ['sh', '-c', `env > ${environment}; exec sleep 600`];
  const at = (name: string, file: string) => ({
    config_dir: path.join(dir, name),
    config_file: path.join(dir, name, file),
  });
  const app = await startHost({
    plugins: 'services',
    config: {
      puid: NOBODY,
      pgid: NOBODY,
      dumb: { plex_token: 'plex-token' },
      zilean: { enabled: false, port: 8_555 },
      postgres: { host: '0.0.0.0', port: 5_999, user: 'keeper', password: 'pw' },
      sonarr: {
        instances: {
          '4K': { ...at('sonarr', 'config.xml'), command: ['sleep', '600'], postgres_enabled: true, port: 8_991 },
        },
      },
      aiostreams: { ...at('aio', 'none.json'), command: tell, auth_password: 'twelve letters' },
      bazarr: { ...at('bazarr', 'data/config/config.yaml'), command: ['sleep', '600'], port: 6_800 },
    },
  });
  t.teardown(() => app.stop());
  t.equal((await start(app, 'Sonarr 4K')).status, 200);
  const file = path.join(dir, 'sonarr', 'config.xml');
  const xml = await readFile(file, 'utf8');
  for (const [name, value] of [
    ['Port', '8991'],
    ['InstanceName', 'Sonarr 4K'],
    ['LogLevel', 'info'],
    ['PostgresHost', '127.0.0.1'],
    ['PostgresPort', '5999'],
    ['PostgresUser', 'keeper'],
    ['PostgresMainDb', 'sonarr_4k_main'],
    ['PostgresLogDb', 'sonarr_4k_log'],
  ])
    t.match(xml, `<${name}>${value}</${name}>`);
  if (root) t.match(await stat(file), { uid: NOBODY, gid: NOBODY });
  if (root) t.match(await stat(path.dirname(file)), { uid: NOBODY });

  await writeFile(
    file,
    xml.replace('<LogLevel>info<', '<LogLevel>trace<').replace('<Config>', '<Config>\n  <!-- mine -->'),
  );
  await stop(app, 'Sonarr 4K');
  await app.post('/config', { process_name: 'Sonarr 4K', updates: { port: 8_992 }, persist: true });
  await start(app, 'Sonarr 4K');
  const again = await readFile(file, 'utf8');
  t.match(again, '<Port>8992</Port>', 'a changed port follows');
  t.match(again, '<LogLevel>trace</LogLevel>', 'what the user chose stays');
  t.match(again, '<!-- mine -->');

  t.equal((await start(app, 'AIOStreams')).status, 200);
  const { aiostreams } = await saved(app);
  t.match(aiostreams.secret_key, /^[0-9a-f]{64}$/);
  const variables = await until(() => readFile(environment, 'utf8').then(text => text || null));
  t.match(variables, `SECRET_KEY=${aiostreams.secret_key}`);
  t.match(variables, 'PORT=3006');
  t.match(variables, 'AIOSTREAMS_AUTH=admin:twelve letters');
  t.ok((await stat(path.join(dir, 'aio', 'data'))).isDirectory());
  await restart(app, 'AIOStreams');
  t.equal((await saved(app)).aiostreams.secret_key, aiostreams.secret_key, 'generated once');
});

t.test('the files of a service belong to the user of its block', { skip: skip || (!root && 'needs root') }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const block = (name: string, file: string) => ({
    config_dir: path.join(dir, name),
    config_file: path.join(dir, name, file),
    command: ['sleep', '600'],
    user: 'daemon',
  });
  const app = await startHost({
    plugins: 'services',
    config: {
      sonarr: { instances: { '4K': block('sonarr', 'config.xml') } },
      bazarr: block('bazarr', 'data/config/config.yaml'),
      traefik: block('traefik', 'traefik.yml'),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['Sonarr 4K', 'Bazarr', 'Traefik']) t.match(await start(app, name), { status: 200 }, name);
  const [settings, ...others] = [
    'sonarr/config.xml',
    'sonarr',
    'bazarr/data/config/config.yaml',
    'bazarr/data/config',
    'traefik/traefik.yml',
    'traefik/dynamic/services.yaml',
  ].map(place => path.join(dir, place));
  for (const place of [settings ?? '', ...others]) t.match(await stat(place), DAEMON, place);
  t.equal((await stat(settings ?? '')).mode & 0o777, 0o600);
});

t.test('a build from sources gets a variable that says so', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const program = path.join(dir, 'program');
  await noting(program);
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup'],
    config: { maintainerr: { process_name: 'Mine', config_dir: dir, log_file: `${dir}/own.log`, command: [program] } },
  });
  t.teardown(() => app.stop());
  for (const [updates, told] of [
    [{ branch_enabled: false }, 'stable'],
    [{ branch_enabled: true }, 'development'],
    [{ branch_enabled: false, commit_sha: 'c'.repeat(40) }, 'development'],
    [{ env: { VERSION_TAG: 'own' } }, 'own'],
  ] as const) {
    await app.post('/config', { process_name: 'Mine', updates });
    await writeFile(`${program}.seen`, '');
    const { status, text } = await restart(app, 'Mine');
    t.equal(status, 200, text);
    t.equal((await seenBy(program)).env.VERSION_TAG, told);
  }
});

t.test('the log level is passed in the words of the program', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const program = path.join(dir, 'zurg');
  await noting(program);
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup'],
    config: { zurg: { instances: { A: { process_name: 'Mine', api_key: 'k', config_dir: dir, command: program } } } },
  });
  t.teardown(() => app.stop());
  for (const [written, told] of [
    ['warn', 'WARNING'],
    ['TRACE', 'DEBUG'],
    ['its own', 'its own'],
  ] as const) {
    await app.post('/config', { process_name: 'Mine', updates: { log_level: written } });
    await writeFile(`${program}.seen`, '');
    const { status, text } = await restart(app, 'Mine');
    t.equal(status, 200, text);
    t.equal((await seenBy(program)).env.LOG_LEVEL, told);
  }
});

t.test('a password is escaped in addresses and connection strings', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  const seen = path.join(dir, 'seen');
  const password = 'p@s/s;"w:%';
  const app = await startHost({
    plugins: ['config', 'process', 'services', 'setup', 'service-postgres'],
    config: {
      postgres: { port: 5_999, user: 'keep er', password },
      riven_backend: {
        process_name: 'Films',
        port: 1,
        config_dir: dir,
        log_file: path.join(dir, 'own.log'),
        symlink_library_path: dir,
        command: ['sh', '-c', `env > ${seen}; exec sleep 600`],
        env: { OWN: 'Host={postgres_host};Password={postgres_password}', PLAIN: '{postgres_password}' },
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Films');
  t.equal(answer.status, 200, answer.text);
  const lines = await until(async () => (await readFile(seen, 'utf8')).split('\n'));
  const address = lines.find(line => line.startsWith('RIVEN_DATABASE_URL='))?.slice('RIVEN_DATABASE_URL='.length) ?? '';
  const { username, password: encoded, host, pathname } = new URL(address);
  t.same([username, encoded].map(decodeURIComponent), ['keep er', password], address);
  t.same([host, pathname], ['127.0.0.1:5999', '/riven']);
  t.ok(lines.includes(`OWN=Host=127.0.0.1;Password="p@s/s;""w:%"`), 'of pairs');
  t.ok(lines.includes(`PLAIN=${password}`));

  await app.post('/config', { updates: { postgres: { host: '::1' } } });
  t.equal((await restart(app, 'Films')).status, 200);
  const ofSix = await until(async () => {
    const text = await readFile(seen, 'utf8');
    return text.includes('::1') && text;
  });
  t.match(ofSix, /^RIVEN_DATABASE_URL=\S+@\[::1\]:5999\/riven$/m, 'an IPv6 address is in brackets in a URL');
  t.match(ofSix, /^OWN=Host=::1;/m, 'and bare elsewhere');
});

const hasFuse = root && existsSync('/dev/fuse');

t.test(
  'a mount that a crash has left dead is taken off',
  { skip: skip || (!hasFuse && 'only root with FUSE mounts') },
  async t => {
    const { dir, mount, end } = await mountLinks(t);
    await chmod(dir, 0o777);
    end();
    await until(
      () =>
        stat(mount).then(
          () => false,
          ({ code }) => code === 'ENOTCONN',
        ),
      { what: 'the end of the mount' },
    );
    const configDir = path.join(dir, 'host');
    const command = ['sleep', '600'];
    const altmount = { process_name: 'Mounts', config_dir: dir, metadata_dir: dir, mount_path: mount, command };
    const port = await writeConfig(configDir, { altmount });
    // In a process of its own, because the check of such places outlives the host for a while.
    const host = await startStackwarden(configDir, port, { plugins: ['config', 'process', 'services', 'setup'] });
    const answer = await fetch(`${host.base}/process/start-service`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: 'Mounts' }),
    });
    t.equal(answer.status, 200, await answer.text());
    t.notMatch(await readFile('/proc/self/mountinfo', 'utf8'), mount);
    host.child.kill('SIGTERM');
    await host.exited;
    t.match(host.stdout(), `Mounts: an earlier run has left a dead mount on ${mount}; it was taken off`);
  },
);

t.test('missing parts are reported in one line', { skip }, async t => {
  const dir = testDir(t, {});
  const app = await startHost({
    plugins: 'services',
    config: {
      puid: NOBODY,
      pulsarr: { config_dir: dir, command: ['node', 'dist/server.js'] },
      tautulli: { config_dir: dir, command: ['no-such-program'] },
      cloudflared: { config_dir: dir },
      maintainerr: { config_dir: '/etc/stackwarden-test', command: ['sleep', '600'] },
      emby: { config_dir: dir, config_file: '/nowhere/system.xml', command: ['sleep', '600'] },
    },
  });
  t.teardown(() => app.stop());
  for (const [name, detail] of [
    [
      'Radarr',
      'Radarr cannot start: the program /opt/radarr/Radarr/Radarr is not installed; it is usually obtained from https://radarr.video',
    ],
    [
      'Pulsarr',
      `Pulsarr cannot start: the program ${dir}/dist/server.js is not installed; it is usually obtained from https://github.com/jamcalli/Pulsarr/releases`,
    ],
    [
      'Tautulli',
      /^Tautulli cannot start: the program no-such-program \(looked for in .*\/usr\/bin.*\) is not installed/,
    ],
    ['Maintainerr', '/etc/stackwarden-test lies in a directory of the system; choose another'],
    ['Cloudflared', /^Cloudflared cannot start: .*tunnel_token/],
    ['Emby Media Server', /\/nowhere\/system\.xml cannot be set up: .* lies outside the directories/],
  ] as const) {
    t.match((await start(app, name)).body, { detail }, name);
  }
  t.equal((await start(app, 'Emby Media Server')).status, 403, 'a refused file keeps its status');
  t.notOk(existsSync('/nowhere'), 'and nothing is made outside');
  t.notOk(existsSync('/radarr'));
  t.notOk(existsSync('/etc/stackwarden-test'));
});

t.test('check names a missing program that nothing can install', async t => {
  const configDir = testDir(t);
  await writeConfig(configDir, { tautulli: { enabled: true, config_dir: configDir, command: ['no-such-program'] } });
  const plugins = ['config', 'process', 'services', 'setup'];
  const checked = spawnStackwarden(configDir, { args: ['check', '--plugins', plugins.join(',')] });
  t.match(await checked.exited, { code: 1 });
  t.match(checked.stderr(), /Tautulli cannot start: the program no-such-program .* is not installed/);
});

t.test('a plugin that fails to give placeholders affects only services that may need them', { skip }, async t => {
  const broken = `export default { name: 'broken', host: '^1', setup(host) {
    host.contribute('process.placeholders', 'broken', { values: () => { throw new Error('no values') } }) } }`;
  const dir = testDir(t, { plugins: { broken: { 'index.mjs': broken } } });
  await chmod(dir, 0o755);
  const at = (name: string, file: string) => ({
    config_dir: path.join(dir, name),
    config_file: path.join(dir, name, file),
    command: ['sleep', '600'],
  });
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: ['config', 'process', 'services', 'setup', 'config-files', 'format-xml', 'format-yaml', 'broken'],
    config: {
      puid: NOBODY,
      bazarr: at('bazarr', 'config.yaml'),
      sonarr: { instances: { One: { ...at('sonarr', 'config.xml'), postgres_enabled: true } } },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Bazarr');
  t.equal(answer.status, 200, answer.text);
  t.match(await start(app, 'Sonarr One'), {
    status: 503,
    body: {
      detail:
        /^Sonarr One has no value for \{postgres_\w+\}, because the plugin broken, which may know it, fails: no values$/,
    },
  });
});

t.test('a plugin installs a program, chooses it, and configures it', { skip }, async t => {
  const dir = testDir(t, {});
  const place = path.join(dir, 'plugins', 'helper');
  await mkdir(place, { recursive: true });
  const program = path.join(dir, 'bazarr-program');
  const steps = path.join(dir, 'steps');
  await writeFile(
    path.join(place, 'index.mjs'),
    `import { appendFile, chmod, writeFile } from 'node:fs/promises'
    const tell = word => appendFile('${steps}', word + ' ')
    export default { name: 'helper', host: '^1', setup(host) {
      host.tap('service.install', async ({ plan, template, fill }) => {
        if (template.key !== 'bazarr') return
        await tell('install')
        await writeFile('${program}', '#!/bin/sh\\nexec sleep 600\\n')
        await chmod('${program}', 0o755)
      })
      host.contribute('service.program', 'bazarr', {
        configKey: 'bazarr',
        async check({ block }) {
          await tell('check')
          if (block.block.log_level === 'ERROR') throw new host.Problem(400, 'Bazarr cannot start: it says too little')
        },
        async choose({ plan, isTemplates }) {
          await tell('choose')
          if (isTemplates) plan.argv = ['${program}']
        },
      })
      host.contribute('service.configure', 'bazarr', { configKey: 'bazarr', async configure({ fill, makeDirectory }) {
        await makeDirectory(fill('{config_dir}/made-{port}'))
      } })
    } }`,
  );
  const own = { config_dir: path.join(dir, 'bazarr'), config_file: path.join(dir, 'bazarr', 'config.yaml') };
  const app = await startHost({
    config: { puid: NOBODY, bazarr: { ...own, port: 6_801 } },
    plugins: ['config', 'process', 'services', 'setup', 'config-files', 'format-yaml', 'helper'],
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
  });
  t.teardown(() => app.stop());
  await app.post('/config', { process_name: 'Bazarr', updates: { log_level: 'ERROR' } });
  t.match(await start(app, 'Bazarr'), { status: 400, body: { detail: 'Bazarr cannot start: it says too little' } });
  t.notMatch(await readFile(steps, 'utf8'), 'install', 'nothing is installed for options that do not suffice');
  await app.post('/config', { process_name: 'Bazarr', updates: { log_level: 'INFO' } });
  const answer = await start(app, 'Bazarr');
  t.equal(answer.status, 200, answer.text);
  t.match(await readFile(steps, 'utf8'), /check install choose $/, 'what is installed is looked at once');
  t.ok((await stat(path.join(dir, 'bazarr', 'made-6801'))).isDirectory());
  t.match(await readFile(own.config_file, 'utf8'), /^general:\n {2}port: 6801$/m);
});
