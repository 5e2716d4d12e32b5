// What a host offers through its ready plugins, and what it must offer when some of them are left out.
import { isDeepStrictEqual } from 'node:util';
import type { TestHost } from './host.ts';
import { withDependents } from './needs.ts';
import { until } from './until.ts';

export interface Surface {
  /** Names of the plugins that are ready. */
  readonly plugins: readonly string[];
  readonly routes: readonly string[];
  readonly streams: readonly string[];
  readonly flags: readonly string[];
}

export interface Trimming {
  readonly names: readonly string[];
  /** What a host without these plugins must offer. */
  readonly expected: Surface;
  /** The routes that are missing without these plugins. */
  readonly gone: readonly string[];
}

const TOGETHER = 20;

/**
 * Trimmings that each leave out a few plugins, so that each plugin is left out once. What must remain comes from the
 * reports of a host with all plugins. Neighbours in the list, which are often alike, are in different trimmings.
 */
export async function trimmings(full: TestHost): Promise<Trimming[]> {
  const reports = full.host.plugins();
  const all = reports.map(({ name }) => name);
  const count = Math.ceil(all.length / TOGETHER);
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const names = all.filter((_name, place) => place % count === index);
      const without = new Set(
        (await Promise.all(names.map(name => withDependents(name, all)))).flatMap(set => [...set]),
      );
      const gone = reports.filter(plugin => without.has(plugin.name)).flatMap(plugin => plugin.routes);
      return { names, gone, expected: surface(full, without) };
    }),
  );
}

/** What the ready plugins of a host offer, except those in `without`. */
export function surface(app: TestHost, without: ReadonlySet<string> = new Set()): Surface {
  const ready = app.host.plugins().filter(plugin => plugin.state === 'ready' && !without.has(plugin.name));
  const all = (pick: (plugin: (typeof ready)[number]) => readonly string[]) => ready.flatMap(pick).sort();
  return {
    plugins: all(plugin => [plugin.name]),
    routes: all(plugin => plugin.routes),
    streams: all(plugin => plugin.streams),
    flags: all(plugin => plugin.capabilities),
  };
}

/** Resolves when the host offers this; rejects with what it offers instead. */
export async function untilOffers(app: TestHost, expected: Surface): Promise<void> {
  const namesOf = ({ plugins, routes, flags }: Surface) => new Set([...plugins, ...routes, ...flags]);
  const wanted = namesOf(expected);
  await until(
    () => {
      const offered = surface(app);
      if (isDeepStrictEqual(offered, expected)) return true;
      const there = namesOf(offered);
      const surplus = [...there].filter(one => !wanted.has(one));
      const missing = [...wanted].filter(one => !there.has(one));
      throw new Error(`too much: ${surplus.join(', ')}; missing: ${missing.join(', ')}`);
    },
    { what: 'the host to offer what is left' },
  );
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
