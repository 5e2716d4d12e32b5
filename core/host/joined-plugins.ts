// The index files of the product's plugins as one script of a build (see core/build/joined-plugins.ts). A plugin is
// taken from there only while its folder holds the same index file.
import { hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CompiledScript } from './compiled-script.ts';

const FILE = new URL('../bundle/joined-plugins.cjs', import.meta.url);
/** As stacks name the script. */
export const JOINED_URL = FILE.href;
const FOLDERS = fileURLToPath(new URL('../../plugins', import.meta.url));
/** Of the folders that are there. The script is run as a whole, which costs more than a few of them. */
const MIN_SHARE = 1 / 3;
/** A larger index file is never the same as one that was joined. */
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
 * Reads the script, where the host runs from a build; without it all folders are loaded by themselves. What V8 has
 * compiled of it counts only with the flags that V8 had then, so this comes before any of them changes.
 */
export function readJoinedPlugins(): CompiledScript | undefined {
  if (existsSync(FILE)) script ??= new CompiledScript(FILE);
  return script;
}

export class JoinedPlugins {
  readonly #plugins: Plugins;
  /** One for all files, because what each would need is new memory. */
  readonly #read = Buffer.allocUnsafeSlow(MAX_INDEX_BYTES);

  private constructor(plugins: Plugins) {
    this.#plugins = plugins;
  }

  /** Has none where the script was not read, or where only `chosen` of the `found` folders are loaded. */
  static async forLoading(chosen: number, found: number): Promise<JoinedPlugins> {
    if (script === undefined || chosen < found * MIN_SHARE) return new JoinedPlugins({});
    const joined = script.run() as Joined;
    // In a build this module is a part of what lies beside the script.
    const onDemand = (specifier: string): Promise<unknown> => import(specifier);
    const modules = await Promise.all(joined.imports.map(onDemand));
    return new JoinedPlugins(joined.load(modules, onDemand, specifier => import.meta.resolve(specifier)));
  }

  /** What loads the plugin of this index file; undefined when the file has to be imported. */
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
