// The index files of the product's plugins as one file of a build (see core/build/joined-plugins.ts). A plugin is taken
// from there only while its folder holds the same index file.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const FILE = new URL('../bundle/joined-plugins.js', import.meta.url);
const FOLDERS = fileURLToPath(new URL('../../plugins', import.meta.url));
/** The file is read as a whole, which costs more than a few folders. */
const MIN_PLUGINS = 40;

interface JoinedPlugin {
  readonly sha256: string;
  /** Runs the index file as if it lay at this URL, and returns its default export. */
  load(url: string): unknown;
}

export class JoinedPlugins {
  readonly #plugins: Readonly<Record<string, JoinedPlugin>>;

  private constructor(plugins: Readonly<Record<string, JoinedPlugin>>) {
    this.#plugins = plugins;
  }

  /** Has none where the host runs from its sources, or loads only some `count` of its plugins. */
  static async forLoading(count: number): Promise<JoinedPlugins> {
    if (count < MIN_PLUGINS || !existsSync(FILE)) return new JoinedPlugins({});
    const { plugins } = (await import(FILE.href)) as { plugins: Record<string, JoinedPlugin> };
    return new JoinedPlugins(plugins);
  }

  /** What loads the plugin of this index file; undefined when the file has to be imported. */
  loaderOf(indexFile: string): (() => unknown) | undefined {
    const folder = path.dirname(indexFile);
    const name = path.basename(folder);
    if (path.dirname(folder) !== FOLDERS || !Object.hasOwn(this.#plugins, name)) return undefined;
    const plugin = this.#plugins[name];
    const sha256 = createHash('sha256').update(readFileSync(indexFile)).digest('hex');
    return plugin?.sha256 === sha256 ? () => plugin.load(pathToFileURL(indexFile).href) : undefined;
  }
}
