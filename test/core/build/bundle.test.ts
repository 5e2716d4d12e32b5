// Bundles of a build: plugin folders can still be deleted and added, all share one core, and stacks name the sources.
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { bundle } from '../../../core/build/bundle.ts';
import { CORE_FILE } from '../../../core/build/places.ts';
import { buildInto, sharedBuild } from '../../support/build.ts';
import { mountMemory, testDir } from '../../support/directory.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);

interface Report {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
}

/** A plugin that refuses at one route, and requests an address at another. */
const droppedIn = (address: string) => `
import { Problem } from '#core'
import { errorText } from '#kit/error-text'
export default {
  name: 'dropped-in',
  host: '^1',
  setup (host) {
    if (host.Problem !== Problem) throw new Error('another Problem')
    const handle = () => { throw new Problem(418, errorText(new Error('short and stout'))) }
    host.route({ method: 'GET', path: '/dropped-in', summary: 'Refuses', handle })
    const ask = async () => ({ text: (await host.fetch('${address}')).text })
    host.route({ method: 'GET', path: '/dropped-in/asked', summary: 'Asks', handle: ask })
  }
}
`;
const pluginsDir = fileURLToPath(new URL('../../../plugins', import.meta.url));

t.test('a build', async t => {
  // Outside of the project, so that the build finds only the packages that it names.
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
  t.teardown(() => rm(dir, { recursive: true }));
  mountMemory(t, dir);
  const outDir = path.join(dir, 'build');
  const configDir = path.join(dir, 'config');
  const folder = (name: string) => path.join(outDir, 'plugins', name);
  await buildInto(outDir, ['config', 'health', 'host-plugins', 'logs', 'process', 'signal-wait-for-tcp']);
  const port = await writeConfig(configDir);
  await rm(folder('signal-wait-for-tcp'), { recursive: true });
  const script = path.join(folder('logs'), 'index.js');
  const text = await readFile(script, 'utf8');
  // The replacement is equally long, so that the positions in the source map stay right.
  await writeFile(script, text.replace('host.use("log.hub")', 'null.use("log.hub")'));

  const env = { ...process.env, NODE_OPTIONS: '' };
  const args = ['start', '--config-dir', configDir];
  const host = spawn(path.join(outDir, 'core/cli/main.js'), args, { cwd: outDir, env, stdio: 'ignore' });
  const ended = new Promise(resolve => host.once('exit', resolve));
  t.teardown(async () => {
    host.kill('SIGTERM');
    await ended;
  });
  const get = (route: string) => fetch(`http://127.0.0.1:${port}${route}`);
  const report = async (name: string) => {
    const { plugins } = (await (await get('/host/plugins')).json()) as { plugins: Report[] };
    return plugins.find(plugin => plugin.name === name);
  };
  await until(async () => (await get('/health')).ok, { what: 'an answer' });

  await t.test('has few files for each plugin', async t => {
    const scripts = (await readdir(folder('process'))).filter(name => name.endsWith('.js'));
    t.ok(scripts.length <= 3, scripts.join());
  });

  await t.test('loads only what a command needs', async t => {
    const main = path.join(outDir, 'core/cli/main.js');
    const text = await readFile(main, 'utf8');
    t.notMatch(text, /\bimport[^("]*"\.\.?\//, 'it is one file');
    t.ok(text.length < 150_000, `without the host: ${text.length} bytes`);
    const probe = path.join(dir, 'probe.cjs');
    await writeFile(probe, "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))");
    const { stdout } = await run(process.execPath, ['--require', probe, main, 'health', '--config-dir', configDir], {
      env,
    });
    const loaded = new Set(stdout.split('\n'));
    const { stdout: usual } = await run(process.execPath, ['--require', probe, '--eval', "import('node:http')"], {
      env,
    });
    for (const name of usual.split('\n').filter(name => name !== 'NativeModule http')) loaded.delete(name);
    t.ok(loaded.has('healthy') && loaded.has('NativeModule http'));
    t.notOk(loaded.has('NativeModule internal/deps/undici/undici'), 'fetch takes more than all the rest');
    for (const name of ['child_process', 'crypto', 'process']) t.notOk(loaded.has(`NativeModule ${name}`), name);
  });

  await t.test('lacks a plugin whose folder was deleted, and loads a folder that was added', async t => {
    t.equal(await report('signal-wait-for-tcp'), undefined);
    await mkdir(folder('dropped-in'));
    await writeFile(path.join(folder('dropped-in'), 'index.js'), droppedIn(`http://127.0.0.1:${port}/health`));
    await until(async () => (await report('dropped-in'))?.state === 'ready', { what: 'the dropped folder' });
    const answer = await get('/dropped-in');
    t.equal(answer.status, 418, 'it throws the Problem that the host knows');
    t.same(await answer.json(), { detail: 'short and stout' });
    const { text } = (await (await get('/dropped-in/asked')).json()) as { text: string };
    t.match(text, '"status":', 'it asks others with the packages that the build names');
    await rm(folder('dropped-in'), { recursive: true });
    await until(async () => (await get('/dropped-in')).status === 404);
    await rm(folder('health'), { recursive: true });
    await until(async () => (await get('/health')).status === 404);
  });

  await t.test('names the source of a fault', async t => {
    const found = await report('logs');
    const [, file = '', row] = /\(([^()]+):(\d+)\)$/.exec(found?.reason ?? '') ?? [];
    t.equal(file, 'index.ts', found?.reason ?? '');
    const source = await readFile(path.join(pluginsDir, 'logs', file), 'utf8');
    t.match(source.split('\n')[Number(row) - 1], "host.use('log.hub')");
  });

  await t.test('reads no source maps outside of itself', async t => {
    const map = { version: 3, sources: ['else.ts'], names: [], mappings: 'AAAA' };
    await writeFile(path.join(dir, 'elsewhere.js.map'), JSON.stringify(map));
    const stack = `Error: what a service wrote\n    at ${pathToFileURL(outDir)}/../elsewhere.js:1:1`;
    const program = `import { errorStack } from ${JSON.stringify(path.join(outDir, CORE_FILE))}
    console.log(errorStack({ stack: process.argv[1] }))`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, stack], { env });
    t.equal(stdout, `${stack}\n`);
  });

  await t.test('parses large texts in a thread', async t => {
    const headers = { 'content-type': 'application/json' };
    const save = (body: string) =>
      fetch(`http://127.0.0.1:${port}/config`, { method: 'POST', headers, body: body + ' '.repeat(70_000) });
    const refused = await save('{"updates": ');
    t.equal(refused.status, 400, 'a Problem of the thread is one of the host');
    t.match(await refused.json(), { detail: /JSON/ });
    t.equal((await save('{"updates": {"dumb": {"log_level": "DEBUG"}}, "persist": false}')).status, 200);
  });
});

t.test('a build of many plugins', async t => {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const outDir = path.join(dir, 'build');
  await cp(await sharedBuild(t), outDir, { recursive: true });
  const script = (name: string) => path.join(outDir, 'plugins', name, 'index.js');
  const change = async (file: string, from: string, to: string) => {
    const text = await readFile(file, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    await writeFile(file, text.replace(from, to));
  };
  await rm(path.dirname(script('signal-wait-for-tcp')), { recursive: true });
  // The replacement is equally long, so that the positions in the source map stay right.
  const joined = path.join(outDir, 'core/bundle/joined-plugins.cjs');
  await change(joined, 'host.use("http.requests")', 'null.use("http.requests")');
  await change(script('logs'), 'host.use("log.hub")', 'null.use("log.hub")');
  const configDir = path.join(dir, 'config');
  const port = await writeConfig(configDir);
  const host = spawn(path.join(outDir, 'core/cli/main.js'), ['start', '--config-dir', configDir], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: 'ignore',
  });
  const ended = new Promise(resolve => host.once('exit', resolve));
  t.teardown(async () => {
    host.kill('SIGTERM');
    await ended;
  });
  const report = async (name: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/host/plugins`);
    const { plugins } = (await answer.json()) as { plugins: Report[] };
    return plugins.find(plugin => plugin.name === name);
  };
  await until(async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok, { what: 'an answer' });

  await t.test('lacks a plugin whose folder was deleted', async t => {
    t.equal(await report('signal-wait-for-tcp'), undefined);
  });

  await t.test('loads a changed folder from itself, and the others from one file', async t => {
    for (const name of ['logs', 'prometheus']) {
      const found = await report(name);
      const [, file = '', row] = /\(([^()]+):(\d+)\)$/.exec(found?.reason ?? '') ?? [];
      t.equal(file, 'index.ts', found?.reason ?? `${name} is ${found?.state}`);
      const source = await readFile(path.join(pluginsDir, name, file), 'utf8');
      t.match(source.split('\n')[Number(row) - 1], 'host.use(', 'the source of the fault is named');
    }
  });

  await t.test('reloads a folder when it is saved', async t => {
    await writeFile(script('prometheus'), `${await readFile(script('prometheus'), 'utf8')}\n// saved\n`);
    await until(async () => (await report('prometheus'))?.state === 'ready', { what: 'the saved folder' });
    t.match(await report('prometheus'), { reason: null });
  });
});

t.test('two modules of the kit that export the same name are refused', async t => {
  const module = 'export const same = 1\n';
  const commands = ['check', 'configured-settings', 'create-plugin', 'main', 'plugins', 'read-only', 'start'];
  const rootDir = testDir(t, {
    core: {
      cli: Object.fromEntries(commands.map(name => [`${name}.ts`, module])),
      contract: { 'plugin.ts': '' },
      host: { 'fetch.ts': '', 'host.ts': '', 'joined-plugins.ts': '', 'plugin-trust.ts': '' },
      kit: { 'one.ts': module, 'two.ts': module },
    },
  });
  const built = bundle({ rootDir, outDir: path.join(rootDir, 'build'), plugins: new Set() });
  await t.rejects(built, /"same" .* is ambiguous/);
});
