import { withDependents } from './dependents.ts';
import { pluginNames, pluginsDir, startHost, type TestHost } from './host.ts';

export interface Surface {
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly flags: readonly string[];
}

export interface Trimming {
  readonly name: string;
  /** What a host without the plugin offers. */
  readonly expected: Surface;
  /** Routes that go with it. */
  readonly gone: readonly string[];
}

/** One for each plugin, from what a full host says of itself. */
export async function trimmings(): Promise<Trimming[]> {
  const names = await pluginNames();
  const full = await startHost({ pluginDirs: [pluginsDir] });
  const reports = full.host.plugins();
  const all = names.map(async name => {
    const without = await withDependents(name, names);
    const gone = reports.filter(plugin => without.has(plugin.name)).flatMap(plugin => plugin.routes);
    return { name, gone, expected: surface(full, without) };
  });
  const found = await Promise.all(all);
  await full.stop();
  return found;
}

/** Of the plugins that are ready, but for those in `without`. */
export function surface(app: TestHost, without: ReadonlySet<string> = new Set()): Surface {
  const ready = app.host.plugins().filter(plugin => plugin.state === 'ready' && !without.has(plugin.name));
  const all = (pick: (plugin: (typeof ready)[number]) => readonly string[]) => ready.flatMap(pick).sort();
  return {
    routes: all(plugin => plugin.routes),
    streams: all(plugin => plugin.streams),
    flags: all(plugin => plugin.capabilities),
  };
}

export async function answersEverything(
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
