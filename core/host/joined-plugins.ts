// The index files of the product's plugins as one script of a build (see core/build/joined-plugins.ts). A plugin is
// loaded from the script only while its folder holds the same index file.
import { hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CompiledScript } from './compiled-script.ts';

const FILE = new URL('../bundle/joined-plugins.cjs', import.meta.url);
/** The URL of the script in stack traces. */
export const JOINED_URL = FILE.href;
const FOLDERS = fileURLToPath(new URL('../../plugins', import.meta.url));
/** The share of folders to load from which on the script is used: running all of it costs more than a few imports. */
const MIN_SHARE = 1 / 3;
/** Larger index files are never joined. */
const MAX_INDEX_BYTES = 2 ** 20;

interface JoinedPlugin {
  readonly sha256: string;
  /** Runs the index file as if it lay at this URL, and returns its default export. */
  load(url: string): unknown;
}

type Plugins = Readonly<Record<string, JoinedPlugin>>;

interface Joined {
  readonly imports: readonly string[];
  load(
    modules: readonly unknown[],
    onDemand: (specifier: string) => Promise<unknown>,
    resolve: (specifier: string) => string,
  ): Plugins;
}

let script: CompiledScript | undefined;

/**
 * Reads the script if the host runs from a build; without it each plugin is imported from its folder. Call this before
 * any flag of V8 is changed, because V8 accepts the code cache only with the flags with which it was written.
 */
export function readJoinedPlugins(): CompiledScript | undefined {
  if (existsSync(FILE)) script ??= new CompiledScript(FILE);
  return script;
}

export class JoinedPlugins {
  readonly #plugins: Plugins;
  /** One buffer for all files, because a new one for each would take memory. */
  readonly #read = Buffer.allocUnsafeSlow(MAX_INDEX_BYTES);

  private constructor(plugins: Plugins) {
    this.#plugins = plugins;
  }

  /** Holds no plugin when the script was not read, or when `chosen`, out of `found`, is too few folders. */
  static async forLoading(chosen: number, found: number): Promise<JoinedPlugins> {
    if (script === undefined || chosen < found * MIN_SHARE) return new JoinedPlugins({});
    const joined = script.run() as Joined;
    // In a build this module lies beside the script, so imports resolve as they would in the script.
    const onDemand = (specifier: string): Promise<unknown> => import(specifier);
    const modules = await Promise.all(joined.imports.map(onDemand));
    return new JoinedPlugins(joined.load(modules, onDemand, specifier => import.meta.resolve(specifier)));
  }

  /** The function that loads the plugin of this index file; undefined when the file has to be imported. */
  loaderOf(indexFile: string): (() => unknown) | undefined {
    const folder = path.dirname(indexFile);
    const name = path.basename(folder);
    if (path.dirname(folder) !== FOLDERS || !Object.hasOwn(this.#plugins, name)) return undefined;
    const plugin = this.#plugins[name];
    return plugin?.sha256 === this.#sha256Of(indexFile) ? () => plugin.load(pathToFileURL(indexFile).href) : undefined;
  }

  #sha256Of(file: string): string {
    const descriptor = openSync(file, 'r');
    try {
      return hash('sha256', this.#read.subarray(0, readSync(descriptor, this.#read)), 'hex');
    } finally {
      closeSync(descriptor);
    }
  }
}
