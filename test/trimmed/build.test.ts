// Builds of chosen plugins: each runs with node alone, away from the sources, on no package but those that it names.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import PQueue from 'p-queue';
import t from 'tap';
import { buildInto, runBuilder } from '../support/build.ts';
import { testDir } from '../support/directory.ts';
import { pluginNames, startHost } from '../support/host.ts';
import { withDependents } from '../support/needs.ts';
import { writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const names = await pluginNames();

const full = await startHost({ plugins: 'all' });
const routesOf = new Map(full.host.plugins().map(({ name, routes }) => [name, routes]));
await full.stop();

async function statusOf(base: string, route: string): Promise<number> {
  const [method = 'GET', url = '/'] = route.split(' ');
  const answer = await fetch(base + url.replace(/\{[^}]+\}/g, 'x'), { method });
  await answer.body?.cancel();
  return answer.status;
}

/**
 * A build leaves several plugins out, so that each is left out of one. Neighbours in the alphabet come into different
 * ones.
 */
const BUILDS = 3;
const queue = new PQueue({ concurrency: 2 });

for (let index = 0; index < BUILDS; index += 1) {
  const chosen = names.filter((_, place) => place % BUILDS === index);
  const gone = new Set((await Promise.all(chosen.map(name => withDependents(name, names)))).flatMap(set => [...set]));
  const kept = names.filter(name => !gone.has(name));
  const built = queue.add(async () => {
    const outDir = await mkdtemp(path.join(tmpdir(), 'stackwarden-build-'));
    return { outDir, stdout: await buildInto(outDir, kept) };
  });

  t.test(`a build without ${chosen[0]} and others`, async t => {
    t.comment(`without ${chosen.join(', ')}`);
    const { outDir, stdout } = await built;
    t.teardown(() => rm(outDir, { recursive: true }));
    for (const left of gone) t.match(stdout, left, `${left} is named as left out`);
    t.same((await readdir(path.join(outDir, 'plugins'))).sort(), kept);
    const configDir = testDir(t, {});
    const port = await writeConfig(configDir);
    const base = `http://127.0.0.1:${port}`;
    const child = spawn(path.join(outDir, 'core/cli/main.js'), ['start', '--config-dir', configDir], {
      cwd: outDir,
      env: { ...process.env, NODE_OPTIONS: '' },
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
    runBuilder(args).then(
      () => '',
      (error: { stderr: string }) => error.stderr,
    );
  t.match(await failureOf(['--plugins', 'nope']), /^there is no plugin 'nope'; the folders of plugins\/ are all\n$/);
  const foreign = testDir(t, { 'letter.txt': 'mine' });
  t.match(await failureOf(['--out', foreign]), /holds files that are no earlier build/);
  t.equal(await readFile(path.join(foreign, 'letter.txt'), 'utf8'), 'mine');
});
