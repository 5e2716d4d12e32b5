// Programs for Node.js, built from sources by the real npm, with packages that lie beside them.
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { InstallRuntime } from '../../../plugins/installs/contract.ts';
import { BUILD_USER, buildRequest } from '../../support/build-request.ts';
import { testDir } from '../../support/directory.ts';
import { ownTools } from '../../support/own-tools.ts';
import { contributionOf } from '../../support/templates.ts';
import { until } from '../../support/until.ts';

const runtime = (key: string) => contributionOf<InstallRuntime>('runtime-node', 'install.runtime', { key });

/** A directory in which any user can work. */
async function openDir(t: Test): Promise<string> {
  const dir = testDir(t, {});
  await chmod(dir, 0o777);
  return dir;
}

/** Sets variables of this process until the end of the test. */
function withVariables(t: Test, variables: Readonly<Record<string, string>>): void {
  const before = Object.fromEntries(Object.keys(variables).map(name => [name, process.env[name]]));
  Object.assign(process.env, variables);
  t.teardown(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
}

const SPY = `
const { execFileSync, spawn } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const left = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
left.unref();
writeFileSync('spied.json', JSON.stringify({ uid: process.getuid(), env: process.env, left: left.pid }));
`;

t.test('downloaded code runs as the user of the services, and learns nothing', async t => {
  const dir = await openDir(t);
  withVariables(t, {
    POSTGRES_PASSWORD: 'secret-of-the-host',
    GITHUB_TOKEN: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    HTTPS_PROXY: 'http://user:secret@proxy.invalid:3128',
    NO_PROXY: 'localhost',
    APP_SETTING: 'of the host',
  });
  const files = {
    'package.json': JSON.stringify({
      name: 'app',
      dependencies: { part: 'file:./part' },
      scripts: { build: 'node build.cjs' },
    }),
    'build.cjs': `require('node:fs').writeFileSync('built.txt', require('part') + process.env.FLAVOUR); console.log('has built it')`,
    'part/package.json': JSON.stringify({ name: 'part', scripts: { install: 'node spy.cjs' } }),
    'part/index.js': `module.exports = 'part';`,
    'part/spy.cjs': SPY,
  };
  const facts = {
    node: 18,
    env: { FLAVOUR: ' and more' },
    steps: [
      ['npm', 'install', '--install-links'],
      ['npm', 'run', 'build'],
      ['sh', '-c', 'echo "$1" > place.txt', 'sh', '{config_dir}'],
    ],
  };
  const request = buildRequest(dir, files, { facts });
  const npm = await runtime('npm');
  await npm.check(request);
  await npm.build(request);
  t.equal(await readFile(path.join(request.directory, 'built.txt'), 'utf8'), 'part and more');
  t.equal(await readFile(path.join(request.directory, 'place.txt'), 'utf8'), '/app\n', 'placeholders are filled');
  t.ok(request.printed.includes('has built it'), 'what it prints is told');
  t.ok(request.printed.includes('$ npm run build'), 'and so are the commands');
  const spied = JSON.parse(await readFile(path.join(request.directory, 'node_modules/part/spied.json'), 'utf8'));
  if (BUILD_USER !== null) t.equal(spied.uid, BUILD_USER.uid);
  t.notMatch(JSON.stringify(spied.env), /secret|ghp_|of the host/);
  t.match(spied.env, { NO_PROXY: 'localhost', CI: 'true' });
  t.ok(spied.env.HOME.startsWith(request.caches), 'its home is none of a user');
  await until(() => !isRunning(spied.left), { what: 'the end of what it left' });
  t.notOk(
    (await readdir(request.caches)).some(name => name.startsWith('home-')),
    'its home is gone',
  );
  t.ok(existsSync(path.join(request.caches, 'npm')), 'what later builds use stays');

  const asked = buildRequest(dir, files, {
    facts: { steps: [['sh', '-c', 'echo $HTTPS_PROXY > proxy.txt; echo "$POSTGRES_PASSWORD" >> proxy.txt']] },
    block: { env_passthrough: ['HTTPS_PROXY', 'POSTGRES_PASSWORD'] },
  });
  await npm.build(asked);
  t.equal(
    await readFile(path.join(asked.directory, 'proxy.txt'), 'utf8'),
    'http://user:secret@proxy.invalid:3128\n\n',
    'a proxy with a password where the block asks for it, and nothing else that is secret',
  );
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

t.test('a build can fail, be cancelled, or be unnecessary', async t => {
  const dir = await openDir(t);
  const npm = await runtime('npm');
  const failing = buildRequest(
    dir,
    {},
    { facts: { steps: [['sh', '-c', 'echo one >&2; echo the disk is odd; exit 2']] } },
  );
  await t.rejects(npm.build(failing), {
    status: 500,
    message: /^App cannot be built: sh -c .* failed: .*the disk is odd.*; see the log of App/,
  });
  const cancel = new AbortController();
  const slow = buildRequest(
    dir,
    {},
    {
      facts: { steps: [['sh', '-c', 'echo $$ > pid.part; mv pid.part pid; exec sleep 600']] },
      signal: cancel.signal,
    },
  );
  const cancelled = npm.build(slow);
  const pid = await until(async () => Number(await readFile(path.join(slow.directory, 'pid'), 'utf8').catch(() => '')));
  cancel.abort(new Error('stopped by hand'));
  await t.rejects(cancelled, { message: 'stopped by hand' });
  await until(() => !isRunning(pid));
  t.same(await readdir(slow.caches), [], 'nothing is left of it');

  const built = buildRequest(dir, { 'dist/app.js': '' }, { facts: { unless: 'dist/app.js', steps: [['false']] } });
  await npm.build(built);
  t.same(built.printed, [], 'a release that comes built');
  const folder = buildRequest(dir, { 'web/file': '' }, { facts: { in: 'web', steps: [['cp', 'file', 'copy']] } });
  await npm.build(folder);
  t.ok(existsSync(path.join(folder.directory, 'web/copy')));
});

t.test('package managers come from the machine, the release or corepack', async t => {
  const dir = await openDir(t);
  const [pnpm, yarn, npm] = await Promise.all([runtime('pnpm'), runtime('yarn'), runtime('npm')]);
  const useTools = ownTools(t, dir);
  const node = `exec ${process.execPath} "$@"`;

  await useTools({ node, pnpm: 'echo "pnpm $*" >> calls' });
  await pnpm.check(buildRequest(dir, {}, { facts: { node: 22 } }));
  const usual = buildRequest(dir, { calls: '' });
  await pnpm.build(usual);
  t.equal(await readFile(path.join(usual.directory, 'calls'), 'utf8'), 'pnpm install\npnpm run --if-present build\n');
  await t.rejects(pnpm.check(buildRequest(dir, {}, { facts: { node: 24 } })), {
    status: 400,
    message: /^App needs Node\.js 24 or later, but this machine has 22\.1\.0; install it from https:/,
  });

  await useTools({ node, corepack: 'printf "#!/bin/sh\necho brought \\$* >> calls\n" > "$3/$4"; chmod +x "$3/$4"' });
  await pnpm.check(buildRequest(dir, {}));
  const brought = buildRequest(dir, { calls: '' });
  await pnpm.build(brought);
  t.match(await readFile(path.join(brought.directory, 'calls'), 'utf8'), /^brought install\n/);

  const bring =
    'mkdir -p "$4/bin"; printf "#!/bin/sh\\necho $5 \\$* >> calls\\n" > "$4/bin/pnpm"; chmod +x "$4/bin/pnpm"';
  await useTools({ node, npm: bring });
  await pnpm.check(buildRequest(dir, {}));
  const asking = JSON.stringify({ packageManager: 'pnpm@9.15.9+sha512.abc' }, null, 2);
  const fetched = buildRequest(dir, { calls: '', 'package.json': asking });
  await pnpm.build(fetched);
  t.match(await readFile(path.join(fetched.directory, 'calls'), 'utf8'), /^pnpm@9\.15\.9 install\n/);

  await useTools({ node });
  const none = {
    status: 400,
    message: /^App is built with pnpm, which this machine does not have; install pnpm or npm or corepack$/,
  };
  await t.rejects(pnpm.check(buildRequest(dir, {})), none);
  const prebuilt = { unless: 'dist/app.js' };
  await pnpm.check(buildRequest(dir, {}, { facts: prebuilt }));
  await t.rejects(pnpm.check(buildRequest(dir, {}, { facts: prebuilt, isFromSources: true })), none);
  await t.rejects(npm.check(buildRequest(dir, {})), { message: /built with npm, .*; install npm$/ });
  const release = `require('node:fs').appendFileSync('calls', 'own ' + process.argv.slice(2))`;
  const files = { calls: '', '.yarn/releases/yarn-4.9.1.cjs': release };
  const own = buildRequest(dir, files, { facts: { steps: [['yarn', 'install', '--immutable']] } });
  await yarn.check(own);
  await yarn.build(own);
  t.equal(await readFile(path.join(own.directory, 'calls'), 'utf8'), 'own install,--immutable');

  await useTools({});
  await t.rejects(npm.check(buildRequest(dir, {})), {
    message: /^App needs Node\.js, which this machine does not have/,
  });
});
