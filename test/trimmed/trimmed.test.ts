// Trimming: a host without a plugin lacks exactly what that plugin owned, and answers everything else.
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { withDependents } from '../support/dependents.ts';
import { pluginsDir, startHost, type TestHost } from '../support/host.ts';

const names = (await readdir(pluginsDir)).sort();

interface Surface {
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly flags: readonly string[];
}

function surface(app: TestHost, without: ReadonlySet<string> = new Set()): Surface {
  const ready = app.host.plugins().filter(plugin => plugin.state === 'ready' && !without.has(plugin.name));
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
const reports = full.host.plugins();
const goneWith = new Map(
  await Promise.all(names.map(async name => [name, await withDependents(name, names)] as const)),
);
const expectedWithout = new Map(names.map(name => [name, surface(full, goneWith.get(name))]));
await full.stop();

for (const name of names) {
  const expected = expectedWithout.get(name) ?? everything;
  const gone = reports.filter(plugin => goneWith.get(name)?.has(plugin.name)).flatMap(plugin => plugin.routes);

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
