// A key of the configuration is named in the folders of the area that describes it. The keys are those that the plugins
// themselves contribute, so that a new one is looked for as soon as it is described.
import t from 'tap';
import { z } from 'zod';
import { hostSchema } from '../core/config/host-schema.ts';
import type { Plugin } from '../core/contract/plugin.ts';
import { testDir } from './support/directory.ts';
import { pluginNames, pluginsDir, startHost } from './support/host.ts';
import { productSources } from './support/product-sources.ts';

/** Folders of one area, by how their names begin. */
const AREAS = {
  'ai-': 'ai',
  'database-': 'database-health',
  'format-': 'config-files',
  'install-': 'installs',
  'metrics-': 'metrics',
  'migration-': 'postgres-migration',
  'notify-': 'notifications',
  'runtime-': 'installs',
  'signal-': 'dependency-graph',
};
/** Describes what every block has. */
const COMMON = 'process';
/** The host describes them itself, and plugins some of their members. */
const HOST_SECTIONS = new Set(Object.keys(hostSchema.shape.dumb.unwrap().shape));
/** Describes what templates say of their options, and gives none of them a meaning. */
const TEMPLATES = 'services';

const AUTOMATIC = { updates: 'gives this option of templates its meaning' };
const KEPT = { installs: 'gives this option of templates its meaning' };
/** Where a word is no key of somebody else, or has to be one: by the key and the area that may name it. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auto_update: AUTOMATIC,
  auto_update_mode: AUTOMATIC,
  auto_update_interval: AUTOMATIC,
  auto_update_start_time: AUTOMATIC,
  clear_on_update: KEPT,
  exclude_dirs: KEPT,
  api_key: { notifications: 'a part of addresses of destinations', 'request-sync': 'a member of requests' },
  auto_restart: { ai: 'a source of the ledger, as the API calls it' },
  dependency_graph: { ai: 'a member of bundles' },
  include_logs: { 'postgres-migration': 'a member of requests' },
  timeout_seconds: { readiness: 'a member of its own probes' },
  unhealthy_threshold: { ai: 'a member of bundles', process: 'a member of answers' },
  database_health: { ai: 'a member of samples and bundles' },
  pinned_version: { updates: 'a reason, as the API calls it' },
  install_dir: { 'database-health': 'a member of the tool of a repair', setup: 'a name in braces of commands' },
  key_type: { ai: 'a name that redaction does not take for a secret' },
  sqlite_path: { 'database-health': 'a member of the tool of a repair' },
};

interface Row {
  readonly owner: string;
  /** undefined: keys of blocks. */
  readonly path?: readonly string[];
  readonly keys: readonly string[];
}

/** Gives the keys of all blocks and sections, as another plugin can see them. */
const LISTER = `export default { name: 'lister', host: '^1', setup(host) {
  const keysOf = schema =>
    Object.keys(host.z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties ?? {})
  const list = point => [...host.contributions(point)]
    .map(({ owner, value: { path, schema } }) => ({ owner, path, keys: keysOf(schema) }))
  host.route({ method: 'GET', path: '/lister', summary: 'x', handle: () => [...list('config.block'), ...list('config.schema')] })
} }`;

async function contributed(t: Parameters<typeof testDir>[0] & { teardown(fn: () => unknown): void }): Promise<Row[]> {
  const shipped = await pluginNames();
  const app = await startHost({
    pluginDirs: [pluginsDir, testDir(t, { lister: { 'index.js': LISTER } })],
    plugins: [...shipped, 'lister'],
  });
  t.teardown(() => app.stop());
  const { body } = await app.get('/lister');
  const own = await Promise.all(
    shipped.map(async (owner): Promise<Row[]> => {
      const { default: plugin } = (await import(`../plugins/${owner}/index.ts`)) as { readonly default: Plugin };
      const schema = plugin.config?.(z);
      const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
      return schema === undefined ? [] : [{ owner, path: ['dumb', owner.replaceAll('-', '_')], keys }];
    }),
  );
  return [...body, ...own.flat()];
}

function areaOf(folder: string): string {
  const known = Object.entries(AREAS).find(([prefix]) => folder.startsWith(prefix));
  return known?.[1] ?? folder;
}

/** By key the areas that describe it. */
function ownersOf(rows: readonly Row[], keysIn: (row: Row) => readonly string[]): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>();
  for (const row of rows)
    for (const key of keysIn(row)) owners.set(key, (owners.get(key) ?? new Set()).add(areaOf(row.owner)));
  return owners;
}

/**
 * What a template says of its options its vendor reads: in its own folder, or where the folder of another area says by
 * its name that it is about the vendor after whom the option is called.
 */
function isOfVendor(file: string, key: string): boolean {
  const [, folder = ''] = file.split('/');
  const [vendor = ''] = key.split('_');
  return folder.startsWith('service-') || `${folder}-${areaOf(folder)}`.split('-').includes(vendor);
}

interface Source {
  readonly file: string;
  readonly area: string;
  /** Without comments. */
  readonly text: string;
}

async function sources(): Promise<Source[]> {
  return (await productSources()).map(({ file, text }) => {
    const [top = '', folder = ''] = file.split('/');
    return { file, area: top === 'core' ? top : areaOf(folder), text: withoutComments(text) };
  });
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*/g, '$1');
}

/** Which areas name a key, other than those that describe it, with the first file of each. */
function strangers(
  all: readonly Source[],
  pattern: RegExp,
  owners: ReadonlySet<string>,
  except: Readonly<Record<string, string>> = {},
): Map<string, string> {
  const found = new Map<string, string>();
  for (const { file, area, text } of all) {
    if (owners.has(area) || Object.hasOwn(except, area) || found.has(area) || !pattern.test(text)) continue;
    found.set(area, file);
  }
  return found;
}

t.test('keys of blocks and sections', async t => {
  const rows = await contributed(t);
  const all = await sources();
  const owners = ownersOf(rows, ({ path: place = [], keys }) => [...place.slice(1), ...keys]);
  const known = new Set(
    rows.filter(({ owner, path: place }) => owner === COMMON && place === undefined).flatMap(({ keys }) => keys),
  );
  for (const section of HOST_SECTIONS) known.add(section);
  // Other keys are words that may mean anything.
  const telling = [...owners].filter(([key]) => key.includes('_') && !known.has(key));
  t.ok(telling.length > 100, `${telling.length} keys are looked for`);
  for (const key of ['symlink_backup_path', 'commit_sha', 'env_file', 'auto_update', 'dependency_graph', 'on_exit'])
    t.ok(
      telling.some(([found]) => found === key),
      `${key} is one of them`,
    );

  for (const [key, areas] of telling) {
    const except = EXCEPTIONS[key];
    const others = areas.has(TEMPLATES) ? all.filter(({ file }) => !isOfVendor(file, key)) : all;
    const found = [...strangers(others, new RegExp(`\\b${key}\\b`), areas, except)];
    t.same(found, [], key);
  }
  const unused = Object.entries(EXCEPTIONS).flatMap(([key, areas]) => {
    const pattern = new RegExp(`\\b${key}\\b`);
    const isNamed = (area: string) => all.some(source => source.area === area && pattern.test(source.text));
    return Object.keys(areas).filter(area => !isNamed(area) || owners.get(key)?.has(area) !== false);
  });
  t.same(unused, [], 'every exception is needed');
});

/** Read of what is called a block, by its name or taken apart. */
function memberOfBlock(key: string): RegExp {
  const named = `\\bblock\\??\\.${key}\\b|\\bblock\\[['"]${key}['"]`;
  const takenApart = `\\{[^{}]*\\b${key}\\b[^{}]*\\}(?:: NamedBlock\\['block'\\]|(?:: \\w+)? = (?:\\w+\\.)*block\\b)`;
  return new RegExp(`${named}|${takenApart}`);
}

/** Sections that are read by their whole path, or are words of events as well. */
const SECTION_EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  startup: { notifications: 'the beginning of types of events' },
};

t.test('sections by their path, and plain words as keys of a block', async t => {
  const rows = await contributed(t);
  const all = await sources();
  for (const [section, areas] of ownersOf(rows, ({ path: place = [] }) => place.slice(1, 2))) {
    if (HOST_SECTIONS.has(section)) continue;
    const pattern = new RegExp(`\\bdumb(?:\\.|', ')${section}\\b`);
    t.same([...strangers(all, pattern, areas, SECTION_EXCEPTIONS[section])], [], `dumb.${section}`);
  }
  const common = new Set(rows.filter(({ owner }) => owner === COMMON).flatMap(({ keys }) => keys));
  const blocks = rows.filter(({ owner, path: place }) => place === undefined && owner !== TEMPLATES);
  for (const [key, areas] of ownersOf(blocks, ({ keys }) => keys)) {
    if (common.has(key)) continue;
    t.same([...strangers(all, memberOfBlock(key), areas)], [], `${key} of a block`);
  }
});

t.test('a key is found in a text and as a property, and not in a comment', async t => {
  const found = (text: string) =>
    strangers([{ file: 'x', area: 'other', text: withoutComments(text) }], /\bcommit_sha\b/, new Set(['installs']))
      .size;
  for (const text of ["const key = 'commit_sha';", 'block.commit_sha', 'const { commit_sha: commit } = block;'])
    t.equal(found(text), 1, text);
  for (const text of ['// commit_sha', '/** `commit_sha` */', 'a // commit_sha', 'commit_sha_of'])
    t.equal(found(text), 0, text);
  const reading = memberOfBlock('schedule');
  for (const text of ['block.schedule', "named.block['schedule']", 'const { a, schedule: when } = named.block;'])
    t.match(text, reading);
  for (const text of ['blocks.schedule', 'const { schedule } = host;', "block['schedules']"]) t.notMatch(text, reading);
  t.equal(areaOf('install-apt'), areaOf('runtime-node'));
});
