// Joins the bundles of plugin folders in one file of the build, because finding, reading and linking a module takes
// longer than running it. The folders stay as they are: a host takes a plugin from this file only while the folder's
// index file is the same.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { exportsOf, moduleText } from './module-text.ts';
import { importedOnDemand, ON_DEMAND } from './on-demand.ts';
import { COMMON } from './output.ts';

/** Does not lie in the folders of the plugins, so the URL of each plugin's own index file is handed to it. */
const JOINED_FILE = 'core/bundle/joined-plugins.cjs';
const OWN_URL = 'urlOfThisIndexFile';
const RESOLVE = 'resolveForPlugins';
const MODULES = 'modulesOfPlugins';
const TAKEN = 'takenFromModule';
/** An import with its specifier, as esbuild writes it. */
const IMPORTED = /\bfrom"([^"\n]+)"/g;
const FUNCTIONS = /\bfunction (\w+)\(/g;

interface Joined {
  readonly name: string;
  readonly text: string;
  /** The digest of the folder's own index file. */
  readonly sha256: string;
  readonly map: unknown;
}

/** Writes the script and its source map. A folder that imports a package at once is left out and loaded by itself. */
export async function joinPlugins(outDir: string, names: readonly string[]): Promise<void> {
  const sorted = [...names].sort();
  const indexOf = (name: string) => path.join(outDir, 'plugins', name, 'index.js');
  const originals = new Map<string, string>();
  for (const name of sorted) originals.set(name, await readFile(indexOf(name), 'utf8'));
  const modules = new Modules(outDir, await textsIn(sorted.map(name => path.dirname(indexOf(name)))));
  const apart = new Set<string>();
  const outputs = await bundleEach(outDir, new Map(sorted.map(name => [name, indexOf(name)])), modules, apart);
  const joined: Joined[] = [];
  for (const [name, original] of originals)
    if (!apart.has(name)) joined.push(joinedPlugin(name, original, outputs(`${name}.js`), outputs(`${name}.js.map`)));
  let text = modules.header();
  const sections = [];
  for (const { name, text: body, sha256, map } of joined) {
    text += `${JSON.stringify(name)}:{sha256:"${sha256}",load:(function(${OWN_URL}){\n`;
    sections.push({ offset: { line: linesOf(text), column: 0 }, map });
    text += `${body}})},\n`;
  }
  // Bundles of the core lie in the same directory, and none of them may be replaced.
  await writeFile(path.join(outDir, JOINED_FILE), importedOnDemand(`${text}}}})\n`), { flag: 'wx' });
  await writeFile(path.join(outDir, `${JOINED_FILE}.map`), JSON.stringify({ version: 3, sections }));
}

/** The texts of index files, and of the files that they import on demand. */
async function textsIn(folders: readonly string[]): Promise<string[]> {
  const files = await Promise.all(
    folders.map(async folder => {
      const names = (await readdir(folder)).filter(name => name.endsWith('.js'));
      return Promise.all(names.map(name => readFile(path.join(folder, name), 'utf8')));
    }),
  );
  return files.flat();
}

/**
 * Bundles each plugin, and gives the outputs by their file names. Plugins that cannot be joined are added to `apart`.
 */
async function bundleEach(
  outDir: string,
  indexFiles: ReadonlyMap<string, string>,
  modules: Modules,
  apart: Set<string>,
): Promise<(file: string) => string> {
  const directory = path.join(outDir, path.dirname(JOINED_FILE));
  const { outputFiles = [] } = await build({
    ...COMMON,
    absWorkingDir: outDir,
    entryPoints: [...indexFiles].map(([name, file]) => ({ in: file, out: name })),
    outdir: directory,
    define: { 'import.meta.url': OWN_URL, 'import.meta.resolve': RESOLVE },
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [importsOfPlugins(outDir, modules, apart)],
  });
  const texts = new Map(outputFiles.map(file => [path.relative(directory, file.path), file.text]));
  return file => texts.get(file) ?? '';
}

/** Decides for each import whether the bundle holds it, takes it from a module that is loaded before, or loads it. */
function importsOfPlugins(outDir: string, modules: Modules, apart: Set<string>): Plugin {
  const core = path.join(outDir, 'core', path.sep);
  const isLoadedBefore = (file: string): boolean => file.startsWith('node:') || file.startsWith(core);
  return {
    name: 'imports of joined plugins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path: specifier, kind, resolveDir, importer }) => {
        if (kind === 'entry-point') return undefined;
        const file = specifier.startsWith('.') ? path.resolve(resolveDir, specifier) : specifier;
        // The folder's own files are included: V8 compiles what is loaded on demand only then, as it does in the
        // folder.
        if (path.dirname(file) === resolveDir) return undefined;
        if (kind === 'dynamic-import') return { path: file, external: true };
        if (isLoadedBefore(file)) return { path: file, namespace: 'module' };
        apart.add(path.basename(path.dirname(importer)));
        return { path: file, external: true };
      });
      onLoad({ filter: /./, namespace: 'module' }, async ({ path: file }) => ({
        contents: await modules.contents(file),
      }));
    },
  };
}

function joinedPlugin(name: string, original: string, output: string, map: string): Joined {
  const [end = '', exported] = /export\s?\{(\w+) as default\};\s*$/.exec(output) ?? [];
  if (exported === undefined) throw new Error(`the plugin ${name} exports something beside its default`);
  const text = `${output.slice(0, -end.length)}return ${exported}`;
  refuseRenamed(name, original, text);
  const sha256 = createHash('sha256').update(original).digest('hex');
  return { name, text, sha256, map: JSON.parse(map) };
}

/** Throws an Error that names a function which esbuild has renamed: threads find functions by their names. */
function refuseRenamed(plugin: string, original: string, text: string): void {
  const kept = new Set([...text.matchAll(FUNCTIONS)].map(([, name]) => name));
  for (const [, name] of original.matchAll(FUNCTIONS)) {
    if (!kept.has(name)) throw new Error(`the function ${name} of the plugin ${plugin} gets another name when joined`);
  }
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

/** What joined plugins import: modules of Node, and files of the core, which are loaded before. */
class Modules {
  readonly #outDir: string;
  /** The number of each module, by specifier or file: the same in each build, in whatever order they are asked for. */
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #contents = new Map<string, Promise<string>>();

  /** `texts` are those of the files that are joined. */
  constructor(outDir: string, texts: readonly string[]) {
    this.#outDir = outDir;
    const specifiers = texts.flatMap(text => [...text.matchAll(IMPORTED)].map(([, specifier = '']) => specifier));
    // All plugin folders lie equally deep, so `_` stands for any of them.
    const found = specifiers.map(specifier =>
      specifier.startsWith('.') ? path.resolve(outDir, 'plugins', '_', specifier) : specifier,
    );
    this.#numbers = new Map([...new Set(found)].sort().map((file, number) => [file, number]));
  }

  /** The text of a module with the exports of the file; exports that are not used cost nothing. */
  contents(file: string): Promise<string> {
    const known = this.#contents.get(file) ?? this.#make(file);
    this.#contents.set(file, known);
    return known;
  }

  /**
   * The beginning of the script, whose value is an object: the modules that it imports, and the function that makes the
   * plugins from them.
   */
  header(): string {
    const directory = path.join(this.#outDir, path.dirname(JOINED_FILE));
    const used = [...this.#numbers].filter(([file]) => this.#contents.has(file));
    const imports = used.map(([file]) => {
      const place = path.relative(directory, file);
      return JSON.stringify(file.startsWith('node:') ? file : place.startsWith('.') ? place : `./${place}`);
    });
    const places = used.map(([, number], index) => `${number}:${MODULES}[${index}]`);
    const start = `({imports:[${imports}],load(${MODULES},${ON_DEMAND},${RESOLVE}){"use strict";const modules={${places}};`;
    return `${start}\nfunction ${TAKEN}(number,name){return modules[number][name]}\nreturn{\n`;
  }

  async #make(file: string): Promise<string> {
    const number = this.#numbers.get(file);
    if (number === undefined) throw new Error(`${file} is imported in a way that is not looked for`);
    const taken = (name: string) => `/* @__PURE__ */ ${TAKEN}(${number},${JSON.stringify(name)})`;
    return moduleText(await this.#exportsOf(file), taken);
  }

  async #exportsOf(file: string): Promise<string[]> {
    if (file.startsWith('node:')) return exportsOf(file);
    const { metafile } = await build({ entryPoints: [file], metafile: true, write: false, format: 'esm' });
    return Object.values(metafile.outputs).flatMap(output => output.exports);
  }
}
