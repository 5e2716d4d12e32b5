// Bundles what the main thread uses of the core and of libraries as one script, because compiled code can be kept of
// scripts alone. Beside it lies a module for each part, which code in the main thread imports.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { zodLocales } from './libraries.ts';
import { exportsOf, madeUp, moduleText } from './module-text.ts';
import { nodeModules, REQUIRE_OF_NODE } from './node-modules.ts';
import { importedOnDemand, ON_DEMAND } from './on-demand.ts';
import { COMMON, type Directories, run } from './output.ts';
import {
  CORE_DIR,
  CORE_FILE,
  HOST_PARTS,
  hostPartFile,
  LIBRARIES,
  type Places,
  relative,
  sharedLibraryFile,
  withoutExtension,
} from './places.ts';

const SCRIPT_FILE = `${CORE_DIR}/core-script.cjs`;
const LOADER_SOURCE = 'core/host/core-script.ts';
const LOADER_FILE = `${CORE_DIR}/core-script.js`;
const META = 'metaOfThisScript';
const WHOLE = 'whole core';

/** Writes the script with its source map, the module that runs it, and one for each part and each library. */
export async function bundleCore(directories: Directories, places: Places): Promise<void> {
  const { rootDir, outDir } = directories;
  const texts = await partTexts(rootDir);
  const options: BuildOptions = {
    outdir: outDir,
    mainFields: ['module', 'main'],
    plugins: [
      madeUp(new Map([...texts, [WHOLE, wholeText([...texts.keys()])]]), rootDir),
      nodeModules,
      zodLocales,
      places.plugin({ core: 'whole', place: () => CORE_DIR }),
    ],
  };
  await run(directories, {
    ...options,
    entryPoints: [{ in: WHOLE, out: withoutExtension(SCRIPT_FILE) }],
    outExtension: { '.js': path.extname(SCRIPT_FILE) },
    format: 'cjs',
    define: { 'import.meta': META },
  });
  await wrapScript(path.join(outDir, SCRIPT_FILE));
  await run(directories, {
    entryPoints: [{ in: LOADER_SOURCE, out: withoutExtension(LOADER_FILE) }],
    outdir: outDir,
    plugins: [nodeModules, places.plugin({ core: 'whole', place: () => CORE_DIR })],
    banner: { js: REQUIRE_OF_NODE },
  });
  for (const [file, names] of await exportedNames(texts, { ...options, absWorkingDir: rootDir }))
    await writePart(outDir, file, `parts[${beside(file)}]`, names);
  for (const library of LIBRARIES) {
    const file = sharedLibraryFile(library);
    await writePart(outDir, file, `await libraries[${beside(file)}]()`, await exportsOf(library));
  }
}

/** The source text of each part, by the file from which the part is imported. */
async function partTexts(rootDir: string): Promise<Map<string, string>> {
  const files = await readdir(path.join(rootDir, 'core/kit'));
  const kit = files.filter(name => name.endsWith('.ts') && !name.endsWith('-worker.ts'));
  // The contract of destinations sends with `fetch.ts`.
  const core = [
    'core/contract/plugin.ts',
    'core/host/host.ts',
    'core/host/fetch.ts',
    ...kit.map(name => `core/kit/${name}`),
  ];
  const texts = new Map(HOST_PARTS.map(source => [hostPartFile(source), `export * from './${source}';\n`]));
  return texts.set(CORE_FILE, core.map(source => `export * from './${source}';\n`).join(''));
}

function wholeText(files: readonly string[]): string {
  const imports = files.map((file, index) => `import * as part${index} from '${file}';\n`).join('');
  const parts = files.map((file, index) => `${beside(file)}: part${index}`).join();
  const libraries = LIBRARIES.map(
    library => `${beside(sharedLibraryFile(library))}: () => import('${library}')`,
  ).join();
  return `${imports}export const parts = { ${parts} };\nexport const libraries = { ${libraries} };\n`;
}

/** The specifier, in quotation marks, of a file for the loader, which lies in the same directory. */
function beside(file: string): string {
  return JSON.stringify(relative(CORE_DIR, file));
}

/** Wraps the script in a function whose parameters are what modules have and scripts lack. */
async function wrapScript(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const head = `(function(require,${ON_DEMAND},${META}){"use strict";const module={};\n`;
  const tail = '\nreturn module.exports})\n';
  const [code = '', mapped = ''] = text.split(/^(?=\/\/# sourceMappingURL=)/m);
  await writeFile(file, importedOnDemand(head + code + tail) + mapped);
  const map = JSON.parse(await readFile(`${file}.map`, 'utf8'));
  await writeFile(`${file}.map`, JSON.stringify({ version: 3, sections: [{ offset: { line: 1, column: 0 }, map }] }));
}

async function exportedNames(
  texts: ReadonlyMap<string, string>,
  options: BuildOptions,
): Promise<[file: string, names: string[]][]> {
  const files = [...texts.keys()];
  const { metafile } = await build({
    ...COMMON,
    ...options,
    entryPoints: files.map(file => ({ in: file, out: withoutExtension(file) })),
    splitting: true,
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs);
  return files.map(file => [file, outputs.find(([name]) => name.endsWith(`/${file}`))?.[1].exports ?? []]);
}

async function writePart(outDir: string, file: string, part: string, names: readonly string[]): Promise<void> {
  const head = `import{parts,libraries}from"./${path.basename(LOADER_FILE)}";\nconst part=${part};\n`;
  await writeFile(path.join(outDir, file), head + moduleText(names, name => `part.${name}`));
}
