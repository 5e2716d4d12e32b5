// Trimming: a host without a plugin lacks exactly what that plugin owned, and answers everything else.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { pluginsDir, startHost, type TestHost } from '../support/host.ts';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const names = (await readdir(pluginsDir)).sort();

interface Surface {
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly flags: readonly string[];
}

function surface(app: TestHost, without?: string): Surface {
  const ready = app.host.plugins().filter(plugin => plugin.state === 'ready' && plugin.name !== without);
  const all = (pick: (plugin: (typeof ready)[number]) => readonly string[]) => ready.flatMap(pick).sort();
  return {
    routes: all(plugin => plugin.routes),
    streams: all(plugin => plugin.streams),
    flags: all(plugin => plugin.capabilities),
  };
}

async function answersEverything(
  t: Pick<typeof import('tap')['t'], 'ok' | 'equal'>,
  app: TestHost,
  expected: Surface,
  gone: readonly string[],
) {
  for (const route of expected.routes) {
    const [method = 'GET', url = '/'] = route.split(' ');
    if (method !== 'GET') continue;
    const { status } = await app.get(url.replace(/\{[^}]+\}/g, 'x'));
    t.ok(status < 500, `${route} answers ${status}`);
  }
  for (const route of gone) {
    const [method = 'GET', url = '/'] = route.split(' ');
    t.equal((await app.request(method, url.replace(/\{[^}]+\}/g, 'x'))).status, 404, `${route} is gone`);
  }
}

const full = await startHost({ pluginDirs: [pluginsDir] });
const everything = surface(full);
const needs = new Map(full.host.plugins().map(plugin => [plugin.name, plugin]));
const expectedWithout = new Map(names.map(name => [name, surface(full, name)]));
await full.stop();

for (const name of names) {
  const expected = expectedWithout.get(name) ?? everything;
  const gone = needs.get(name)?.routes ?? [];

  t.test(`without the folder of ${name}`, async t => {
    const directory = await mkdtemp(path.join(tmpdir(), 'stackwarden-plugins-'));
    t.teardown(() => rm(directory, { recursive: true }));
    for (const other of names)
      if (other !== name) await symlink(path.join(pluginsDir, other), path.join(directory, other));
    const app = await startHost({ pluginDirs: [directory] });
    t.teardown(() => app.stop());
    t.same(surface(app), expected);
    await answersEverything(t, app, expected, gone);
  });

  t.test(`with ${name} in dumb.plugins.disabled`, async t => {
    const app = await startHost({ pluginDirs: [pluginsDir], config: { dumb: { plugins: { disabled: [name] } } } });
    t.teardown(() => app.stop());
    t.same(surface(app), expected);
    t.equal(app.host.plugins().find(plugin => plugin.name === name)?.state, 'disabled');
    await answersEverything(t, app, expected, gone);
  });
}

t.test('a build of some plugins runs with node alone', async t => {
  const outDir = path.join(rootDir, 'node_modules', '.cache', `trimmed-${process.pid}`);
  t.teardown(() => rm(outDir, { recursive: true, force: true }));
  const build = [
    path.join(rootDir, 'core/build/trim.ts'),
    '--plugins',
    'process,config,logs,host-plugins',
    '--out',
    outDir,
  ];
  const { stdout } = await run(process.execPath, ['--import=tsx', ...build], {
    cwd: rootDir,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.match(stdout, /left out: docs, gateway, health/);
  t.same((await readdir(path.join(outDir, 'plugins'))).sort(), ['config', 'host-plugins', 'logs', 'process']);
  const configDir = t.testdir({});
  const port = await writeConfig(configDir);
  const child = spawn(process.execPath, [path.join(outDir, 'core/main.js'), 'start', '--config-dir', configDir], {
    stdio: 'ignore',
  });
  const exited = new Promise(resolve => child.once('exit', resolve));
  const answer = await until(
    async () =>
      (await fetch(`http://127.0.0.1:${port}/host/plugins`)).json() as Promise<{ plugins: { state: string }[] }>,
    { timeoutMs: 60_000 },
  );
  t.equal(answer.plugins.length, 4);
  t.ok(answer.plugins.every(plugin => plugin.state === 'ready'));
  t.equal((await fetch(`http://127.0.0.1:${port}/openapi.json`)).status, 404);
  child.kill('SIGTERM');
  t.equal(await exited, 0);
});

t.test('an unknown plugin is one line', async t => {
  const build = run(process.execPath, ['--import=tsx', path.join(rootDir, 'core/build/trim.ts'), '--plugins', 'nope'], {
    cwd: rootDir,
  });
  const failure = await build.then(
    () => '',
    (error: { stderr: string }) => error.stderr,
  );
  t.match(failure, /^there is no plugin 'nope'; there are .*\n$/);
});
