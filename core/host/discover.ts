// Finds plugin folders and imports each in isolation, so that a faulty folder affects no other.
import { accessSync, constants } from 'node:fs';
import { access, readdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from '../contract/plugin.ts';
import { membersOf, refuseMisspelt, requireText } from '../kit/checked-argument.ts';
import { errorText } from '../kit/error-text.ts';
import type { JoinedPlugins } from './joined-plugins.ts';
import { refusalOfFolder } from './plugin-trust.ts';
import { addReloadHooks } from './reload-hooks.ts';

/** Version of the plugin contract in core/contract. */
const CONTRACT_VERSION = '1.0.0';
/** The range that nearly every plugin names. It includes this version. */
const USUAL_RANGE = '^1';

const MEMBERS = membersOf<Plugin>({
  name: true,
  version: true,
  host: true,
  needs: true,
  after: true,
  config: true,
  setup: true,
});

export const PLUGIN_NAME = /^[a-z][a-z0-9-]{0,63}$/;
const runsFromSource = import.meta.url.endsWith('.ts');
export const SOURCE_FILE = /\.(?:js|mjs|ts)$/;
/** A build prefers JavaScript, because older releases of Node cannot run TypeScript. */
const INDEX_FILES = runsFromSource ? ['index.ts', 'index.js', 'index.mjs'] : ['index.js', 'index.mjs', 'index.ts'];

export const RUNS_TYPESCRIPT =
  runsFromSource || ('typescript' in process.features && process.features.typescript !== false);

const RELOAD_HOOKS = new URL(runsFromSource ? './reload-hooks.ts' : './reload-hooks.js', import.meta.url);
const productPlugins = fileURLToPath(new URL('../../plugins', import.meta.url));

export interface PluginFolder {
  readonly name: string;
  readonly folder: string;
  readonly indexFile: string;
  /** Why the folder may not be loaded; null when it may be. */
  readonly refusal: string | null;
  /** A plugin of a lower one is set up first, and so has what both register. */
  readonly rank: number;
}

const PREFERRED = 0;
const OF_PRODUCT = 1;
const OTHER = 2;

/** The plugin directories: the product's, the one in the configuration directory, and the configured ones. */
export function pluginDirectories(configDir: string, configured: readonly string[]): string[] {
  // A slash at the end would keep changes from being assigned to a plugin.
  const others = configured.filter(directory => directory !== '').map(directory => path.resolve(directory));
  return [productPlugins, path.join(configDir, 'plugins'), ...others];
}

/** The plugin folders of `directories`, in the order of the directories. A missing directory has none. */
export async function findPluginFolders(
  directories: readonly string[],
  override: readonly string[],
): Promise<PluginFolder[]> {
  const found = new Map<string, PluginFolder>();
  for (const directory of directories) {
    for (const folder of await pluginFoldersIn(directory)) {
      const { name } = folder;
      const earlier = found.get(name);
      const isPreferred = override.includes(name);
      const plugin = { ...folder, rank: earlier?.rank ?? rankOf(folder.folder, isPreferred) };
      if (earlier === undefined || isPreferred) {
        found.set(name, plugin);
        continue;
      }
      const other = `${name} (${directory})`;
      const refusal = `the name '${name}' is taken by ${earlier.folder}; name it in dumb.plugins.override to replace that one`;
      found.set(other, { ...plugin, name: other, refusal });
    }
  }
  return [...found.values()];
}

function rankOf(folder: string, isPreferred: boolean): number {
  if (isOfProduct(folder)) return OF_PRODUCT;
  return isPreferred ? PREFERRED : OTHER;
}

/** Whether a plugin's folder is part of the product. */
export function isOfProduct(folder: string): boolean {
  return path.dirname(folder) === productPlugins;
}

async function pluginFoldersIn(directory: string): Promise<Omit<PluginFolder, 'rank'>[]> {
  const names = await folderNames(directory);
  const found = await Promise.all(
    names.map(async name => {
      const folder = path.join(directory, name);
      const indexFile = await findIndexFile(folder);
      return indexFile === undefined
        ? undefined
        : { name, folder, indexFile, refusal: await refusalOf(name, folder, indexFile) };
    }),
  );
  return found.filter(plugin => plugin !== undefined);
}

async function folderNames(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter(entry => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
      .map(entry => entry.name)
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new Error(`cannot read the plugin directory ${directory}`, { cause: error });
  }
}

/** The index file of a plugin folder. An unreadable file counts too, so that its import says why it failed. */
export async function findIndexFile(folder: string): Promise<string | undefined> {
  // The product's folders are on the disk from which this module was read, so a synchronous look does not hang.
  const look = isOfProduct(folder) ? accessSync : access;
  for (const name of INDEX_FILES) {
    const file = path.join(folder, name);
    try {
      await look(file, constants.R_OK);
      return file;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The next name of an index file may exist.
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return file;
    }
  }
  return undefined;
}

async function refusalOf(name: string, folder: string, indexFile: string): Promise<string | null> {
  if (!PLUGIN_NAME.test(name)) return 'the folder name may hold lower-case letters, digits and hyphens only';
  try {
    // The product's own folders need no check: who can write to them can write to the host as well.
    const refusal = isOfProduct(folder) ? null : await refusalOfFolder(folder);
    if (refusal !== null) return refusal;
  } catch (error) {
    return `the folder cannot be looked through: ${errorText(error)}`;
  }
  if (indexFile.endsWith('.ts') && !RUNS_TYPESCRIPT) {
    return `Node ${process.versions.node} does not run its index.ts; compile that to index.js (npx tsc), or take Node 22.18 or later`;
  }
  return null;
}

let reloadHooks = false;

/**
 * Imports a plugin and checks its shape. With a `generation` above 0, its files are read again instead of taken from
 * the module cache or the joined plugins.
 */
export async function importPlugin(found: PluginFolder, generation: number, joined: JoinedPlugins): Promise<Plugin> {
  const load = generation === 0 ? joined.loaderOf(found.indexFile) : undefined;
  if (load !== undefined) return checkPlugin(load(), found.name);
  // Node never resolves a link a second time, but the link may lead elsewhere by now.
  const file = await realpath(found.indexFile).catch(() => found.indexFile);
  const url = pathToFileURL(file);
  if (generation > 0) {
    if (!reloadHooks) addReloadHooks(RELOAD_HOOKS);
    reloadHooks = true;
    url.searchParams.set('generation', String(generation));
  }
  const module = (await import(url.href)) as { default?: unknown };
  return checkPlugin(module.default, found.name);
}

async function refuseOtherHost(range: unknown): Promise<void> {
  const { default: validRange } = await import('semver/ranges/valid.js');
  const { default: satisfies } = await import('semver/functions/satisfies.js');
  if (typeof range !== 'string' || validRange(range) === null)
    throw new Error("'host' is not a version range, for example '^1'");
  if (!satisfies(CONTRACT_VERSION, range)) throw new Error(`it needs host ${range}, this is ${CONTRACT_VERSION}`);
}

async function checkPlugin(value: unknown, folderName: string): Promise<Plugin> {
  if (typeof value !== 'object' || value === null)
    throw new Error('the index file has no default export that is an object');
  const given = value as Partial<Record<keyof Plugin, unknown>>;
  // The host uses the members often. They are read once, here, where an accessor runs as the plugin's code.
  const { name, version, host, needs, after, config, setup } = given;
  // Node takes an empty file for a module of CommonJS, whose default export is an empty object.
  if (name === undefined)
    throw new Error(
      `the index file has no default export with a name; write export default { name: '${folderName}', host: '^1', setup(host) {} }`,
    );
  if (name !== folderName) throw new Error(`its name is '${String(name)}' but its folder is '${folderName}'`);
  refuseMisspelt(Object.keys(given), MEMBERS, 'it');
  if (typeof setup !== 'function') throw new Error('it has no setup function');
  if (version !== undefined) requireText(version, 'its version');
  // Nearly every plugin names the usual range; the library that parses others takes a while to load.
  if (host !== USUAL_RANGE) await refuseOtherHost(host);
  if (config !== undefined && typeof config !== 'function') throw new Error("'config' is not a function");
  const present = Object.entries({
    version,
    needs: listOfNames('needs', needs),
    after: listOfNames('after', after),
    config: config?.bind(given),
  }).filter(([, member]) => member !== undefined);
  return { name, host: String(host), ...Object.fromEntries(present), setup: setup.bind(given) };
}

function listOfNames(member: string, names: unknown): string[] | undefined {
  if (names === undefined) return undefined;
  if (Array.isArray(names) && names.every(name => typeof name === 'string')) return [...names];
  throw new Error(`'${member}' is not a list of plugin names`);
}
