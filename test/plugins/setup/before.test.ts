// Steps of a template right before a launch: links among the files of the service, and programs that can refuse the
// launch.
import { existsSync } from 'node:fs';
import { chmod, lstat, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { lives, start } from '../../support/kids.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const skip = !['setup', 'services'].every(name => existsSync(path.join(pluginsDir, name)));

t.test('a link is made once, and a program before the launch runs as the services user', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } }, taken: 'a file' });
  await chmod(dir, 0o777);
  const script = path.join(dir, 'migrate');
  await writeFile(
    script,
    `#!/bin/sh\necho "$DEPTH $(id -u) $(pwd)" > ran\ntest ! -e refuse || { echo 'the data is too old'; exit 3; }\n`,
  );
  await chmod(script, 0o755);
  await writeFile(
    path.join(dir, 'host/templates/services/finder.json'),
    JSON.stringify({
      key: 'finder',
      displayName: 'Finder',
      kind: 'core',
      description: 'Finds things.',
      links: {},
      block: {
        enabled: false,
        process_name: 'Finder',
        config_dir: dir,
        command: ['sleep', '600'],
        env: { DEPTH: '3' },
      },
      launch: { before: [[script]] },
      setup: {
        links: [
          { path: '{config_dir}/store', to: 'data/store', makes: true },
          { path: '{config_dir}/taken', to: 'data/taken' },
        ],
      },
      stop: { tier: 2 },
    }),
  );
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    plugins: ['config', 'process', 'services', 'setup'],
    config: {},
  });
  t.teardown(() => app.stop());
  await writeFile(path.join(dir, 'refuse'), '');
  t.match(await start(app, 'Finder'), {
    status: 400,
    body: { detail: `Finder cannot start: ${script} failed: the data is too old` },
  });
  const [depth, uid, place] = (await readFile(path.join(dir, 'ran'), 'utf8')).trim().split(' ');
  t.match({ depth, place }, { depth: '3', place: dir });
  if (process.getuid?.() === 0) {
    t.equal(uid, '65534');
    t.match(await lstat(path.join(dir, 'store')), { uid: 65_534 }, 'the user of the service makes the link');
  }
  t.equal(await readlink(path.join(dir, 'store')), 'data/store');
  t.ok(existsSync(path.join(dir, 'data/store')));
  t.equal(await readFile(path.join(dir, 'taken'), 'utf8'), 'a file', 'what is there stays');

  await app.post('/config', { process_name: 'Finder', updates: { command: ['sleep', '601'] } });
  t.equal((await start(app, 'Finder')).status, 200, "a command of the user's own is not refused by it");
});

t.test('a program whose host was killed is ended before it is run again', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} } } });
  await chmod(dir, 0o777);
  const script = path.join(dir, 'migrate');
  // Its processes may leave its process group.
  await writeFile(script, "#!/bin/sh\nsetsid sh -c 'echo $$ > pids.new; mv pids.new pids; exec sleep 1000'\n");
  await chmod(script, 0o755);
  await writeFile(
    path.join(dir, 'host/templates/services/finder.json'),
    JSON.stringify({
      key: 'finder',
      displayName: 'Finder',
      kind: 'core',
      description: 'Finds things.',
      links: {},
      block: { enabled: false, process_name: 'Finder', config_dir: dir, command: ['sleep', '600'] },
      launch: { before: [[script]] },
      stop: { tier: 2 },
    }),
  );
  const configDir = path.join(dir, 'host');
  const port = await writeConfig(configDir, { finder: { enabled: true } });
  const plugins = ['config', 'process', 'services', 'setup'];
  const file = path.join(dir, 'pids');
  const pidOfIt = async () =>
    Number(await until(() => readFile(file, 'utf8').catch(() => ''), { what: 'the program before the launch' }));
  const first = await startStackwarden(configDir, port, { plugins });
  const pid = await pidOfIt();
  first.child.kill('SIGKILL');
  await first.exited;
  t.ok(lives(pid));
  await rm(file);
  const second = await startStackwarden(configDir, port, { plugins });
  const next = await pidOfIt();
  t.notOk(lives(pid), 'one at a time');
  second.child.kill('SIGTERM');
  await second.exited;
  process.kill(next, 'SIGKILL');
});

t.test('a template without a launch is set up too', { skip }, async t => {
  const dir = testDir(t, { host: { templates: { services: {} }, plugins: { helper: {} } } });
  await chmod(dir, 0o755);
  const made = (name: string) => path.join(dir, 'finder', name);
  await writeFile(
    path.join(dir, 'host/templates/services/finder.json'),
    JSON.stringify({
      key: 'finder',
      displayName: 'Finder',
      kind: 'core',
      description: 'Finds things.',
      links: {},
      block: {
        enabled: false,
        process_name: 'Finder',
        config_dir: path.join(dir, 'finder'),
        command: ['sleep', '600'],
      },
      setup: { directories: ['{config_dir}/store'] },
      stop: { tier: 2 },
    }),
  );
  await writeFile(
    path.join(dir, 'host/plugins/helper/index.js'),
    `export default { name: 'helper', host: '^1', setup(host) {
      host.tap('service.install', ({ fill, makeDirectory }) => makeDirectory(fill('{config_dir}/installed')))
      host.contribute('service.configure', 'finder', {
        configKey: 'finder',
        configure: ({ fill, makeDirectory }) => makeDirectory(fill('{config_dir}/configured')),
      })
    } }`,
  );
  const app = await startHost({
    configDir: path.join(dir, 'host'),
    pluginDirs: [pluginsDir, path.join(dir, 'host/plugins')],
    plugins: ['config', 'process', 'services', 'setup', 'helper'],
    config: {},
  });
  t.teardown(() => app.stop());
  const { status, text } = await start(app, 'Finder');
  t.equal(status, 200, text);
  for (const name of ['store', 'installed', 'configured']) t.ok(existsSync(made(name)), name);
});
