// Versions of programs, found as their templates say: in files, assemblies, command output and answers, and never
// during a request.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { Versions } from '../../../plugins/versions/versions.ts';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { start, status } from '../../support/kids.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['versions', 'services', 'setup'].every(name => existsSync(path.join(pluginsDir, name)));
const asRoot = process.getuid?.() === 0;
const DAEMON = 1;
const plugins = ['config', 'process', 'services', 'setup', 'versions', 'health-probe', 'dependency-graph'];

const versionOf = async (app: TestHost, name: string): Promise<string | null> =>
  (await app.get('/process/processes')).body.processes.find(
    (entry: { process_name: string }) => entry.process_name === name,
  ).version;

const shows = (app: TestHost, name: string, version: string | null): Promise<unknown> =>
  until(async () => (await versionOf(app, name)) === version, { what: `${name} with the version ${version}` });

/** As compilers write it: names and values in UTF-16, each value aligned to four bytes. */
function assembly(version: string): Buffer {
  const resource = Buffer.from(
    `FileVersion\x00\x001.0.0.0\x00\x00Assembly Version\x00\x00${version}\x00\x00`,
    'utf16le',
  );
  return Buffer.concat([Buffer.alloc(300_000, 'x'), resource, Buffer.alloc(5_000)]);
}

async function program(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
}

t.test('each kind of source gives the version, and a changed file is read again', { skip }, async t => {
  const dir = testDir(t, {
    riven: { 'pyproject.toml': '[tool.poetry]\nname = "riven"\nversion = "0.20.1"\n' },
    bazarr: { VERSION: 'v1.5.1\n' },
    frontend: { 'package.json': '{"name":"dmbdb","version":"1.2.0"}' },
    battery: { cli_battery: { 'version.txt': 'commit-0123456789ab\n' } },
    tautulli: { 'version.txt': 'this is no version\n' },
  });
  await chmod(dir, 0o755);
  await program(path.join(dir, 'sonarr/Sonarr'), 'exec sleep 600');
  await writeFile(path.join(dir, 'sonarr/Sonarr.Core.dll'), assembly('4.0.14.2939'));
  await program(
    path.join(dir, 'traefik/traefik'),
    '[ "$1" = version ] || exec sleep 600\necho "Version:      3.6.6 $(id -u)"; sleep 600 &',
  );
  await program(path.join(dir, 'zurg/zurg'), 'sleep 600');
  await mkdir(path.join(dir, 'seerr'));
  const port = await freePort();
  const block = (name: string, more: object = {}) => ({
    process_name: name,
    config_dir: path.join(dir, name),
    ...more,
  });
  const answering = `require('http').createServer((q, a) => a.end('{"version":"2.7.3"}')).listen(${port}, '127.0.0.1')`;
  const app = await startHost({
    pace: 0.02,
    plugins,
    config: {
      riven_backend: block('riven'),
      bazarr: block('bazarr'),
      cli_battery: block('battery'),
      tautulli: block('tautulli'),
      traefik: block('traefik', { enabled: true, command: [path.join(dir, 'traefik/traefik'), 'x'] }),
      zurg: { instances: { A: block('zurg', { enabled: true, command: `${dir}/zurg/zurg` }) } },
      sonarr: { instances: { Default: block('sonarr', { command: [path.join(dir, 'sonarr/Sonarr')] }) } },
      seerr: { instances: { Default: block('seerr', { port, command: [process.execPath, '-e', answering] }) } },
      dumb: { frontend: block('frontend') },
    },
  });
  t.teardown(() => app.stop());
  for (const [name, version] of [
    ['riven', 'v0.20.1'],
    ['bazarr', 'v1.5.1'],
    ['frontend', 'v1.2.0'],
    ['battery', 'commit-0123456789ab'],
    ['sonarr', '4.0.14.2939'],
    ['traefik', '3.6.6'],
  ] as const)
    await shows(app, name, version);
  t.equal(await versionOf(app, 'tautulli'), null, 'a sentence is no version');
  t.equal(await versionOf(app, 'zurg'), null, 'a command that hangs holds up nobody else');
  t.equal((await app.get('/process?process_name=bazarr')).body.version, 'v1.5.1');
  const graph = await until(async () => {
    const { body } = await app.get('/process/dependency-graph?process_name=bazarr&scope=all');
    return body.processes?.find((entry: { name: string }) => entry.name === 'bazarr').version === 'v1.5.1' && body;
  });
  t.ok(graph, 'the graph has it too');

  await start(app, 'seerr');
  await shows(app, 'seerr', '2.7.3');

  await writeFile(path.join(dir, 'bazarr/VERSION'), '1.6.0');
  await shows(app, 'bazarr', '1.6.0');
  await writeFile(path.join(dir, 'sonarr/Sonarr.Core.dll'), assembly('4.0.15.1'));
  await shows(app, 'sonarr', '4.0.15.1');
});

t.test('a plugin that fails to give placeholders costs no version', { skip }, async t => {
  const broken = `export default { name: 'broken', host: '^1', setup(host) {
    host.contribute('process.placeholders', 'broken', { values: () => { throw new Error('no values') } }) } }`;
  const dir = testDir(t, { bazarr: { VERSION: 'v1.5.1\n' }, plugins: { broken: { 'index.mjs': broken } } });
  await chmod(dir, 0o755);
  const app = await startHost({
    pace: 0.02,
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: [...plugins, 'broken'],
    config: {
      bazarr: { process_name: 'bazarr', config_dir: path.join(dir, 'bazarr') },
      sonarr: { instances: { Default: { process_name: 'sonarr', command: ['{install_dir}/Sonarr'] } } },
    },
  });
  t.teardown(() => app.stop());
  await shows(app, 'bazarr', 'v1.5.1');
});

t.test('slow lookups begin once the services are started', { skip }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const [address, wanted] = [path.join(dir, 'address'), path.join(dir, 'wanted')];
  const ask = `const {readFileSync} = require('fs'); fetch(readFileSync('${address}', 'utf8')).then(a => a.json())`;
  await program(
    path.join(dir, 'traefik/traefik'),
    `[ "$1" = version ] || exec sleep 600
    exec ${process.execPath} -e "${ask}.then(({phase}) => console.log(phase === 'starting_services' ? '1.0.0' : '2.0.0'))"`,
  );
  const app = await startHost({
    pace: 1,
    plugins,
    config: {
      traefik: {
        enabled: true,
        process_name: 'traefik',
        config_dir: dir,
        command: [path.join(dir, 'traefik/traefik'), 'x'],
      },
      // The wait for this directory is repeated after two seconds.
      late: { enabled: true, process_name: 'Late', config_dir: dir, command: ['sleep', '600'], wait_for_dir: wanted },
      dumb: { startup: { stabilization_seconds: 0 } },
    },
  });
  t.teardown(() => app.stop());
  await writeFile(address, `${app.base}/process/startup-status`);
  await until(async () => (await app.get('/process/startup-status')).body.services.Late?.reason?.includes(wanted));
  await mkdir(wanted);
  const version = await until(() => versionOf(app, 'traefik'), { what: 'a version' });
  t.match(version, /2\.0\.0/);
});

t.test('unreadable files and endless commands give no version', { skip }, async t => {
  const dir = testDir(t, {
    own: { token: 'secret-0123' },
    bazarr: {},
    tautulli: {},
    pulsarr: { 'version.txt': '2.0.1' },
  });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'own'), 0o700);
  await symlink(path.join(dir, 'own/token'), path.join(dir, 'bazarr/VERSION'));
  execFileSync('mkfifo', [path.join(dir, 'tautulli/version.txt')]);
  const block = (name: string) => ({ process_name: name, config_dir: path.join(dir, name) });
  const app = await startHost({
    pace: 0.02,
    plugins,
    config: { bazarr: block('bazarr'), tautulli: block('tautulli'), pulsarr: block('pulsarr') },
  });
  t.teardown(() => app.stop());
  await shows(app, 'pulsarr', '2.0.1');
  t.equal(await versionOf(app, 'tautulli'), null, 'the list does not wait for it');
  if (asRoot) t.equal(await versionOf(app, 'bazarr'), null, 'a link leads no further than its user');
});

t.test('files that only the user of the service may read give its version', { skip: skip || !asRoot }, async t => {
  const dir = testDir(t, { bazarr: { VERSION: 'v1.5.1\n' }, pulsarr: { 'version.txt': '2.0.1' } });
  await chmod(dir, 0o755);
  for (const place of ['bazarr/VERSION', 'bazarr']) await chown(path.join(dir, place), DAEMON, DAEMON);
  await chmod(path.join(dir, 'bazarr'), 0o700);
  const block = (name: string, user: string) => ({ process_name: name, config_dir: path.join(dir, name), user });
  const app = await startHost({
    pace: 0.02,
    plugins,
    config: { bazarr: block('bazarr', 'daemon'), pulsarr: block('pulsarr', 'no-such-user') },
  });
  t.teardown(() => app.stop());
  await shows(app, 'bazarr', 'v1.5.1');
  await shows(app, 'pulsarr', '2.0.1');
});

t.test('a program that is run for its version leaves no process', { skip }, async t => {
  const dir = testDir(t, { 'pids.txt': '' });
  await chmod(dir, 0o755);
  const pids = path.join(dir, 'pids.txt');
  await chmod(pids, 0o666);
  const begin = `setsid sh -c 'echo $$ >> ${pids}; exec sleep 600' &`;
  const asked = (name: string, text: string) =>
    program(path.join(dir, name, name), `[ "$1" = version ] || exec sleep 600\n${text}`);
  await asked('traefik', `${begin}\nwhile ! [ -s ${pids} ]; do sleep 0.1; done; echo "Version: 3.6.6"`);
  await asked('zurg', `${begin}\nsleep 600`);
  const block = (name: string) => ({
    enabled: true,
    process_name: name,
    config_dir: path.join(dir, name),
    command: [path.join(dir, name, name)],
  });
  const app = await startHost({
    pace: 0.02,
    plugins,
    config: { traefik: block('traefik'), zurg: { instances: { a: { ...block('zurg'), api_key: 'k' } } } },
  });
  t.teardown(() => app.stop());
  await shows(app, 'traefik', '3.6.6');
  const begun = async (): Promise<string[]> => (await readFile(pids, 'utf8')).trim().split('\n');
  await until(async () => (await begun()).length >= 2, { what: 'what the programs begin' });
  const all = await begun();
  await until(() => !all.some(pid => existsSync(`/proc/${pid}`)), { what: 'the end of what the programs began' });
});

t.test('no program is run while its file is missing', { skip }, async t => {
  const dir = testDir(t, { bazarr: {}, pulsarr: { 'version.txt': '2.0.1' }, 'asked.txt': '' });
  await chmod(dir, 0o755);
  const asked = path.join(dir, 'asked.txt');
  await chmod(asked, 0o666);
  const { PATH } = process.env;
  await program(path.join(dir, 'bin/head'), `echo "$@" >> ${asked}\nPATH='${PATH}' exec head "$@"`);
  process.env.PATH = `${path.join(dir, 'bin')}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  const block = (name: string) => ({ process_name: name, config_dir: path.join(dir, name) });
  const config = { bazarr: block('bazarr'), pulsarr: block('pulsarr') };
  const app = await startHost({ pace: 0.02, plugins, config });
  t.teardown(() => app.stop());
  await shows(app, 'pulsarr', '2.0.1');
  t.notMatch(await readFile(asked, 'utf8'), 'bazarr');
  await writeFile(path.join(dir, 'bazarr/VERSION'), '1.6.0');
  await shows(app, 'bazarr', '1.6.0');
  t.match(await readFile(asked, 'utf8'), 'bazarr/VERSION');
});

t.test('services get their own version in a variable', { skip }, async t => {
  const dir = testDir(t, {
    infinidysk: { 'version.txt': 'v1.4.0-0a1b2c3d\n' },
    maintainerr: { 'version.txt': 'v2.19.0\n' },
    unknown: {},
  });
  for (const place of ['.', 'infinidysk', 'maintainerr', 'unknown']) await chmod(path.join(dir, place), 0o777);
  const block = (name: string, key: string) => ({
    process_name: name,
    config_dir: path.join(dir, name),
    log_file: path.join(dir, name, 'own.log'),
    command: ['sh', '-c', `env > ${path.join(dir, name, 'seen')}; exec sleep 600`],
    ...(key === '' ? {} : { env: { FRONTEND_BACKEND_API_KEY: key } }),
  });
  const app = await startHost({
    plugins,
    config: {
      data_root: dir,
      infinidysk: { ...block('infinidysk', 'k'), backend_port: await freePort(), frontend_port: await freePort() },
      maintainerr: { ...block('maintainerr', ''), port: await freePort() },
    },
  });
  t.teardown(() => app.stop());
  for (const [name, line] of [
    ['infinidysk', 'NZBDAV_VERSION=v1.4.0-0a1b2c3d'],
    ['maintainerr', 'npm_package_version=2.19.0'],
  ] as const) {
    const answer = await start(app, name);
    t.equal(answer.status, 200, answer.text);
    const lines = await until(async () => (await readFile(path.join(dir, name, 'seen'), 'utf8')).split('\n'));
    t.ok(lines.includes(line), line);
  }
});

t.test('a program that a start installs gets its version at that start', { skip }, async t => {
  const dir = testDir(t, { maintainerr: {}, plugins: { helper: {} } });
  await chmod(dir, 0o755);
  await chmod(path.join(dir, 'maintainerr'), 0o777);
  const file = path.join(dir, 'maintainerr/version.txt');
  await writeFile(
    path.join(dir, 'plugins/helper/index.mjs'),
    `import { writeFile } from 'node:fs/promises'
    export default { name: 'helper', host: '^1', setup(host) {
      host.tap('service.install', async ({ plan, template }) => {
        if (template.key !== 'maintainerr') return
        await writeFile('${file}', 'v2.19.0')
        await host.find('service.versions').refresh(plan.processName)
      })
    } }`,
  );
  const seen = path.join(dir, 'maintainerr/seen');
  const app = await startHost({
    pluginDirs: [pluginsDir, path.join(dir, 'plugins')],
    plugins: [...plugins, 'helper'],
    config: {
      maintainerr: {
        process_name: 'Maintainerr',
        port: await freePort(),
        config_dir: path.join(dir, 'maintainerr'),
        log_file: path.join(dir, 'maintainerr/own.log'),
        command: ['sh', '-c', `env > ${seen}; exec sleep 600`],
      },
    },
  });
  t.teardown(() => app.stop());
  const answer = await start(app, 'Maintainerr');
  t.equal(answer.status, 200, answer.text);
  const lines = await until(async () => (await readFile(seen, 'utf8')).split('\n'));
  t.ok(lines.includes('npm_package_version=2.19.0'));
});

t.test('the program of the template is used when the block has none', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } } });
  await chmod(dir, 0o755);
  const shipped = new URL('../../../templates/services/sonarr.json', import.meta.url);
  const template = (await readFile(shipped, 'utf8')).replaceAll('"/opt/sonarr', `"${dir}/opt`);
  await writeFile(path.join(dir, 'host/templates/services/sonarr.json'), template);
  for (const [place, version] of [
    ['opt', '4.0.14.2939'],
    ['opt/instances/pinned', '4.0.9.2244'],
  ] as const) {
    await program(path.join(dir, place, 'Sonarr/Sonarr'), 'exec sleep 600');
    await writeFile(path.join(dir, place, 'Sonarr/Sonarr.Core.dll'), assembly(version));
  }
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    pace: 0.02,
    plugins,
    config: {
      sonarr: { instances: { Default: { process_name: 'Shows' }, Pinned: { pinned_version: '4.0.9.2244' } } },
    },
  });
  t.teardown(() => app.stop());
  await shows(app, 'Shows', '4.0.14.2939');
  await shows(app, 'Sonarr Pinned', '4.0.9.2244');
});

t.test('a change of the clock does not look like a new run', { skip }, async t => {
  const dir = testDir(t, { bazarr: { VERSION: '1.0.0' }, 'asked.txt': '' });
  const asked = path.join(dir, 'asked.txt');
  await chmod(dir, 0o755);
  await chmod(asked, 0o666);
  const traefik = path.join(dir, 'traefik/traefik');
  await program(traefik, `[ "$1" = version ] || exec sleep 600\necho asked >> ${asked}; echo "Version: 3.6.6"`);
  const block = (name: string, more: object = {}) => ({
    process_name: name,
    config_dir: path.join(dir, name),
    ...more,
  });
  const app = await startHost({
    pace: 0.02,
    plugins,
    config: { bazarr: block('bazarr'), traefik: block('traefik', { enabled: true, command: [traefik, 'x'] }) },
  });
  const { now } = Date;
  t.teardown(async () => {
    Date.now = now;
    await app.stop();
  });
  const isTold = (version: string): Promise<unknown> =>
    writeFile(path.join(dir, 'bazarr/VERSION'), version).then(() => shows(app, 'bazarr', version));
  await until(async () => (await status(app, 'traefik')).status === 'running');
  await shows(app, 'traefik', '3.6.6');
  // A round that gives a version has ended when the next one gives one.
  for (const version of ['1.0.1', '1.0.2']) await isTold(version);
  const before = await readFile(asked, 'utf8');
  Date.now = () => now() + 7_000 * 86_400_000;
  for (const version of ['1.0.3', '1.0.4']) await isTold(version);
  t.equal(await readFile(asked, 'utf8'), before);
});

t.test('lookups that wait for others end with the plugin', async t => {
  const block = { processName: 'Slow', configKey: 'slow', block: { enabled: true } };
  const services: Readonly<Record<string, object>> = {
    'config.store': { blocks: () => [block], root: () => ({ puid: 65_534, pgid: 65_534 }) },
    'service.templates': { get: () => ({ version: { from: [{ command: ['sleep', '600'] }] } }) },
  };
  const plugin = new AbortController();
  const host = {
    signal: plugin.signal,
    contributions: () => [],
    log: { debug: () => undefined },
    find: (name: string) => services[name],
    use: (name: string) => services[name],
  };
  const versions = new Versions(host as never);
  const lookups = ['one', 'another', 'a third that waits'].map(() => versions.refresh('Slow'));
  await new Promise(setImmediate);
  // As the host ends a plugin.
  plugin.abort();
  versions.end();
  t.same(await Promise.all(lookups), [null, null, null]);
});
