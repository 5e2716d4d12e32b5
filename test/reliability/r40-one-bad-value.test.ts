// R40: one bad value in each place of the configuration: that value blocks itself alone, is told, and can be mended.
import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { entries, isRunning, openWith, sleeper, type Values } from '../support/configured.ts';
import type { TestHost } from '../support/host.ts';
import { until } from '../support/until.ts';

interface Place {
  readonly path: readonly string[];
  readonly bad: unknown;
}

/** Where one value of each type stands in for all that is wrong. */
const CANDIDATES = { number: 0.5, boolean: true, string: '\0', array: [{ '': [] }], object: { '': [] } };

/** A value of a type that the schema has not. */
function badValue(schema: Values): unknown {
  const forms = [schema, ...((schema.anyOf ?? schema.oneOf ?? []) as Values[])];
  const types = new Set(forms.flatMap(({ type }) => type ?? []));
  if (types.size === 0) return undefined;
  if (types.has('integer')) types.add('number');
  return Object.entries(CANDIDATES).find(([type]) => !types.has(type))?.[1];
}

/** Every place that a schema describes, with a value that does not fit; of a list, and of a map, an item too. */
function placesIn(schema: Values, at: readonly string[]): Place[] {
  const bad = at.length === 0 ? undefined : badValue(schema);
  const own = bad === undefined ? [] : [{ path: at, bad }];
  const item = schema.type === 'array' ? badValue((schema.items ?? {}) as Values) : undefined;
  const items = item === undefined ? [] : [{ path: at, bad: [item] }];
  const open = schema.additionalProperties;
  const members = Object.entries({
    ...(schema.properties as Record<string, Values> | undefined),
    ...(typeof open === 'object' ? { ANY: open as Values } : {}),
  });
  return [...own, ...items, ...members.flatMap(([key, member]) => placesIn(member, [...at, key]))];
}

function withValue(root: Values, [key = '', ...rest]: readonly string[], value: unknown): Values {
  const member = rest.length === 0 ? value : withValue((root[key] ?? {}) as Values, rest, value);
  return { ...root, [key]: member };
}

function valueAt(root: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((value, key) => (value as Values | undefined)?.[key], root);
}

const schemaOf = async (app: TestHost, name: string): Promise<Values> =>
  (await app.post('/config/process-config/schema', { process_name: name })).body;

/** The places that health names. */
async function toldPlaces(app: TestHost): Promise<string[]> {
  const { details = '' } = (await app.get('/health')).body;
  const [, places = ''] = /values that do not fit \((.*)\); see/.exec(details) ?? [];
  return places.split(', ').filter(Boolean);
}

/** Puts each bad value into the file alone, and lists what does not hold. */
async function faultsOf(app: TestHost, file: string, good: Values, places: readonly Place[]): Promise<string[]> {
  const shown = (await app.get('/config')).body as Values;
  const faults: string[] = [];
  for (const [index, { path: at, bad }] of places.entries()) {
    const place = at.join('.');
    const check = (what: string, holds: boolean) => holds || faults.push(`${place} ${JSON.stringify(bad)}: ${what}`);
    await writeFile(file, JSON.stringify(withValue(good, at, bad)));
    const save = await app.post('/config', { updates: { good: { env: { N: String(index) } } } });
    check(`another save: ${save.text}`, save.status === 200);
    const kept = valueAt(JSON.parse(await readFile(file, 'utf8')), at);
    check('the file keeps it', JSON.stringify(kept) === JSON.stringify(bad));
    const told = await toldPlaces(app);
    check(`it is told, and it alone: ${told}`, told.length === 1 && told[0]?.startsWith(place) === true);
    const all = await entries(app);
    const entry = all.find(({ process_name: name }) => name === 'Good') as Values;
    check('others run', entry.status === 'running' && entry.enabled === true && entry.config_problem === null);
    const problems = all.flatMap(({ config_problem: problem }) => problem ?? []) as string[];
    const isOwn = (problem: string) =>
      problem.startsWith(place) && problem.endsWith('until it is mended in stackwarden.json');
    check(`its own process says so, and no other: ${problems}`, problems.length <= 1 && problems.every(isOwn));
    check('a process says so where it is in its block', at[0] === 'dumb' || at.length < 2 || problems.length === 1);
    const mended = valueAt(good, at) ?? valueAt(shown, at) ?? null;
    const answer = await app.post('/config', { updates: withValue({}, at, mended) });
    check(`mending: ${answer.text}`, answer.status === 200);
    check('mended', (await toldPlaces(app)).length === 0);
  }
  return faults;
}

t.test('a bad value in each place of the sections and of a block concerns nothing else', async t => {
  const victim = sleeper('Victim', {
    enabled: false,
    health: { path: '/' },
    env_copy: { source: '/nowhere', destination: '/nowhere' },
  });
  const sections = ['auth', 'auto-restart', 'docs', 'onboarding', 'config-files', 'gateway', 'service-dumb-frontend'];
  const plugins = ['config', 'process', 'health', 'health-probe', ...sections];
  const { app, file, good } = await openWith(t, { good: sleeper('Good'), victim }, plugins);
  await until(() => isRunning(app, 'Good'));
  const { puid, pgid, tz, data_root, dumb } = (await app.get('/config/schema')).body.properties;
  const block = await schemaOf(app, 'Victim');
  const places = [
    ...placesIn({ properties: { puid, pgid, tz, data_root, dumb } }, []),
    ...placesIn(block, ['victim']).filter(({ path: at }) => at.length > 1),
  ];
  t.ok(places.length > 100, `${places.length} places`);
  t.same(await faultsOf(app, file, good, places), []);
  t.ok(await isRunning(app, 'Good'));
});

t.test('a bad value in the block of a template concerns this service alone', async t => {
  const { app, file, good } = await openWith(t, { good: sleeper('Good') }, ['config', 'process', 'services', 'health']);
  await until(() => isRunning(app, 'Good'));
  const radarr = ['radarr', 'instances', 'Radarr'];
  const common = (await schemaOf(app, 'Good')).properties as Values;
  const places = [
    { path: ['traefik'], bad: 'text' },
    { path: ['radarr'], bad: 5 },
    { path: ['radarr', 'instances'], bad: [] },
    { path: radarr, bad: 7 },
    ...placesIn(await schemaOf(app, 'Radarr'), radarr).filter(
      ({ path: at }) => at.length === 4 && !Object.hasOwn(common, at[3] ?? ''),
    ),
  ];
  t.ok(places.length > 10, `${places.length} places`);
  t.same(await faultsOf(app, file, good, places), []);
});
