// Joins the bundles of plugin folders in one file of the build, because finding, reading and linking a module takes
// longer than running it. The folders stay what they are: a host takes from this file only what is the same there.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** Lies two directories below the build, as plugins do not, so that their own places are handed to them. */
const JOINED_FILE = 'core/bundle/joined-plugins.js';
const OWN_URL = 'urlOfThisIndexFile';
const TAKEN = 'takenFromModule';
/** With what is imported, in the words that esbuild writes. */
const IMPORTED = /\bfrom"([^"\n]+)"/g;
const FUNCTIONS = /\bfunction (\w+)\(/g;

interface Joined {
  readonly name: string;
  readonly text: string;
  /** Of the folder's own index file. */
  readonly sha256: string;
  readonly map: unknown;
}

/**
 * Writes the file and its source map. A folder whose index file shares modules with another file of the folder, or
 * imports a package at once, is left out and loaded by itself.
 */
export async function joinPlugins(outDir: string, names: readonly string[], common: BuildOptions): Promise<void> {
  const sorted = [...names].sort();
  const indexOf = (name: string) => path.join(outDir, 'plugins', name, 'index.js');
  const originals = new Map<string, string>();
  for (const name of sorted) originals.set(name, await readFile(indexOf(name), 'utf8'));
  const modules = new Modules(outDir, [...originals.values()]);
  const apart = new Set<string>();
  const outputs = await bundleEach(outDir, new Map(sorted.map(name => [name, indexOf(name)])), modules, apart, common);
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
  // The bundles of the core lie beside it.
  await writeFile(path.join(outDir, JOINED_FILE), `${text}};\n`, { flag: 'wx' });
  await writeFile(path.join(outDir, `${JOINED_FILE}.map`), JSON.stringify({ version: 3, sections }));
}

/** Gives the texts by the names of their files. What cannot be joined comes to be `apart`. */
async function bundleEach(
  outDir: string,
  indexFiles: ReadonlyMap<string, string>,
  modules: Modules,
  apart: Set<string>,
  common: BuildOptions,
): Promise<(file: string) => string> {
  const directory = path.join(outDir, path.dirname(JOINED_FILE));
  const imports: Plugin = {
    name: 'imports of joined plugins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path: specifier, kind, resolveDir, importer }) => {
        if (kind === 'entry-point') return undefined;
        const file = specifier.startsWith('.') ? path.resolve(resolveDir, specifier) : specifier;
        if (kind === 'dynamic-import') {
          const place = path.relative(directory, file);
          return { path: specifier.startsWith('.') ? place : specifier, external: true };
        }
        if (file.startsWith('node:') || file.startsWith(path.join(outDir, 'core', path.sep)))
          return { path: file, namespace: 'module' };
        apart.add(path.basename(path.dirname(importer)));
        return { path: file, external: true };
      });
      onLoad({ filter: /./, namespace: 'module' }, async ({ path: file }) => ({
        contents: await modules.contents(file),
      }));
    },
  };
  const { outputFiles = [] } = await build({
    ...common,
    absWorkingDir: outDir,
    entryPoints: [...indexFiles].map(([name, file]) => ({ in: file, out: name })),
    outdir: directory,
    define: { 'import.meta.url': OWN_URL },
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [imports],
  });
  const texts = new Map(outputFiles.map(file => [path.relative(directory, file.path), file.text]));
  return file => texts.get(file) ?? '';
}

function joinedPlugin(name: string, original: string, output: string, map: string): Joined {
  const [end = '', exported] = /export\s?\{(\w+) as default\};\s*$/.exec(output) ?? [];
  if (exported === undefined) throw new Error(`the plugin ${name} exports something beside its default`);
  const text = `${output.slice(0, -end.length)}return ${exported}`;
  refuseRenamed(name, original, text);
  const sha256 = createHash('sha256').update(original).digest('hex');
  return { name, text, sha256, map: JSON.parse(map) };
}

/** Threads find functions by their names. Throws an Error that names one which is called otherwise here. */
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
  /** By specifier or file. The same in each build, in whatever order they are asked for. */
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #contents = new Map<string, Promise<string>>();

  /** `texts` are the index files. */
  constructor(outDir: string, texts: readonly string[]) {
    this.#outDir = outDir;
    const specifiers = texts.flatMap(text => [...text.matchAll(IMPORTED)].map(([, specifier = '']) => specifier));
    // Each index file lies as deep as any other.
    const found = specifiers.map(specifier =>
      specifier.startsWith('.') ? path.resolve(outDir, 'plugins', '_', specifier) : specifier,
    );
    this.#numbers = new Map([...new Set(found)].sort().map((file, number) => [file, number]));
  }

  /** A module that exports the same; what is not used of it costs nothing. */
  contents(file: string): Promise<string> {
    const known = this.#contents.get(file) ?? this.#make(file);
    this.#contents.set(file, known);
    return known;
  }

  header(): string {
    const directory = path.join(this.#outDir, path.dirname(JOINED_FILE));
    const used = [...this.#numbers].filter(([file]) => this.#contents.has(file));
    const imports = used.map(([file, number]) => {
      const place = path.relative(directory, file);
      const specifier = file.startsWith('node:') ? file : place.startsWith('.') ? place : `./${place}`;
      return `import*as m${number} from${JSON.stringify(specifier)};\n`;
    });
    const list = used.map(([, number]) => `${number}:m${number}`).join();
    return `${imports.join('')}const modules={${list}};\nfunction ${TAKEN}(number,name){return modules[number][name]}\nexport const plugins={\n`;
  }

  async #make(file: string): Promise<string> {
    const number = this.#numbers.get(file);
    if (number === undefined) throw new Error(`${file} is imported in a way that is not looked for`);
    const lines = (await this.#exportsOf(file)).map(name => {
      const value = `/* @__PURE__ */ ${TAKEN}(${number},${JSON.stringify(name)})`;
      // Some names are words of the language.
      return `const $${name} = ${value};\nexport { $${name} as ${name} };\n`;
    });
    return lines.join('');
  }

  async #exportsOf(file: string): Promise<string[]> {
    if (file.startsWith('node:')) return Object.keys(await import(file)).filter(name => /^\w+$/.test(name));
    const { metafile } = await build({ entryPoints: [file], metafile: true, write: false, format: 'esm' });
    return Object.values(metafile.outputs).flatMap(output => output.exports);
  }
}
