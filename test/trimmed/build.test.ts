// Builds of chosen plugins: each runs with node alone, away from the sources, on no package but those that it names.
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { pluginsDir, startHost } from '../support/host.ts';
import { withDependents } from '../support/needs.ts';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const builder = path.join(rootDir, 'core/build/trim.ts');
const names = (await readdir(pluginsDir)).sort();
const env = { ...process.env, NODE_OPTIONS: '' };

const full = await startHost({ plugins: 'all' });
const routesOf = new Map(full.host.plugins().map(({ name, routes }) => [name, routes]));
await full.stop();

/** The build, with its own packages beside it and no others above it. */
async function build(kept: readonly string[], outDir: string): Promise<string> {
  const args = ['--import=tsx', builder, '--plugins', kept.join(','), '--out', outDir];
  const { stdout } = await run(process.execPath, args, { cwd: rootDir, env });
  const { dependencies } = JSON.parse(await readFile(path.join(outDir, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = path.join(outDir, 'node_modules', name);
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.join(rootDir, 'node_modules', name), link);
  }
  return stdout;
}

async function statusOf(base: string, route: string): Promise<number> {
  const [method = 'GET', url = '/'] = route.split(' ');
  return (await fetch(base + url.replace(/\{[^}]+\}/g, 'x'), { method })).status;
}

/** A build leaves several plugins out, so that each is left out of one. Neighbours in the alphabet come into different ones. */
const BUILDS = Math.ceil(names.length / 10);
const queue = new PQueue({ concurrency: 2 });

for (let index = 0; index < BUILDS; index += 1) {
  const chosen = names.filter((_, place) => place % BUILDS === index);
  const gone = new Set((await Promise.all(chosen.map(name => withDependents(name, names)))).flatMap(set => [...set]));
  const kept = names.filter(name => !gone.has(name));
  const built = queue.add(async () => {
    const outDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
    return { outDir, stdout: await build(kept, outDir) };
  });

  t.test(`a build without ${chosen.join(', ')}`, async t => {
    const { outDir, stdout } = await built;
    t.teardown(() => rm(outDir, { recursive: true }));
    for (const left of gone) t.match(stdout, left, `${left} is named as left out`);
    t.same((await readdir(path.join(outDir, 'plugins'))).sort(), kept);
    const configDir = testDir(t, {});
    const port = await writeConfig(configDir);
    const base = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, ['core/cli/main.js', 'start', '--config-dir', configDir], {
      cwd: outDir,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', text => {
      stderr += text;
    });
    const exited = new Promise(resolve => child.once('exit', resolve));
    await until(async () => child.exitCode !== null || (await statusOf(base, 'GET /')), { what: 'an answer' });
    t.equal(child.exitCode, null, stderr);
    for (const [plugin, routes] of routesOf) {
      for (const route of routes.filter(candidate => candidate.startsWith('GET '))) {
        const status = await statusOf(base, route);
        if (gone.has(plugin)) t.equal(status, 404, `${route} is gone`);
        else t.ok(status < 500, `${route} answers ${status}`);
      }
    }
    child.kill('SIGTERM');
    t.equal(await exited, 0, stderr);
  });
}

t.test('what cannot be built is one line', async t => {
  const failureOf = (args: readonly string[]) =>
    run(process.execPath, ['--import=tsx', builder, ...args], { cwd: rootDir, env }).then(
      () => '',
      (error: { stderr: string }) => error.stderr,
    );
  t.match(await failureOf(['--plugins', 'nope']), /^there is no plugin 'nope'; there are .*\n$/);
  const foreign = testDir(t, { 'letter.txt': 'mine' });
  t.match(await failureOf(['--out', foreign]), /holds files that are no earlier build/);
  t.equal(await readFile(path.join(foreign, 'letter.txt'), 'utf8'), 'mine');
});
