// Bundles one build: the core, each plugin folder and each library that a start needs become a file or two, because
// finding and reading hundreds of small ones is most of a start.
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { bundlePage } from '../kit/page-bundle.ts';
import { bundleCore } from './core-script.ts';
import { joinPlugins } from './joined-plugins.ts';
import { bundleLibraries } from './libraries.ts';
import { nodeModules, REQUIRE_OF_NODE } from './node-modules.ts';
import { type Directories, run } from './output.ts';
import { CORE_FILE, HOST_PARTS, hostPartFile, Places, relative, SHARED_BY_THREADS } from './places.ts';

const MAIN = 'core/cli/main';
/** Runs in the thread of module hooks. */
const RELOAD_HOOKS = 'core/host/reload-hooks.ts';

export interface BundleOptions extends Directories {
  readonly plugins: ReadonlySet<string>;
  /** Further entry points, relative to the root; they use the core as plugins do. */
  readonly include?: readonly string[];
}

/** Returns the specifiers of all packages that the bundled code imports. */
export async function bundle(options: BundleOptions): Promise<ReadonlySet<string>> {
  const { rootDir, include = [] } = options;
  const places = await Places.of(rootDir, ['core', 'plugins', ...include.map(entry => path.dirname(entry))]);
  await bundleCore(options, places);
  await bundleCommandLine(options, places);
  await bundleFolders(options, places);
  await bundleThreads(options, places);
  for (const name of options.plugins) {
    const folder = `plugins/${name}`;
    await bundlePageOf(options, folder);
    await bundleCommands(options, folder, places);
  }
  await bundleLibraries(options);
  await joinPlugins(options.outDir, [...options.plugins]);
  return places.packages;
}

/**
 * Plugin folders that import nothing on demand become a file each in one run of esbuild, because each run costs as much
 * as a folder.
 */
async function bundleFolders(options: BundleOptions, places: Places): Promise<void> {
  const folders = [...options.plugins].map(name => `plugins/${name}`);
  const together: string[] = [];
  const alone = [...(options.include ?? [])];
  for (const folder of folders) {
    const isLazy = places.below(folder).some(([, text]) => /\bimport\(\s*'\./.test(text));
    (isLazy ? alone : together).push(`${folder}/index.ts`);
  }
  await run(options, {
    entryPoints: together,
    outdir: options.outDir,
    outbase: options.rootDir,
    plugins: [places.plugin({ core: 'shared', place: placeOfFolder })],
  });
  for (const entry of alone) {
    await run(options, {
      entryPoints: [entry],
      outdir: path.join(options.outDir, path.dirname(entry)),
      splitting: true,
      chunkNames: '[name]-[hash]',
      plugins: [places.plugin({ core: 'shared', place: () => path.dirname(entry) })],
    });
  }
}

/** The plugin folder of a file. */
function placeOfFolder(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** Each command runs in a process of its own, which loads nothing of the host. */
async function bundleCommands(options: BundleOptions, folder: string, places: Places): Promise<void> {
  const place = `${folder}/commands`;
  if (!existsSync(path.join(options.rootDir, place))) return;
  const names = await readdir(path.join(options.rootDir, place));
  await run(options, {
    entryPoints: names.map(name => `${place}/${name}`),
    outdir: path.join(options.outDir, folder),
    outbase: folder,
    splitting: true,
    // As deep as the commands, but not among them.
    chunkNames: 'shared/[name]-[hash]',
    plugins: [places.plugin({ core: 'own', place: () => place })],
  });
}

/**
 * Bundles each module of a thread by itself, with what it uses of the core. Modules of one depth share a run, because
 * their paths to a file are the same.
 */
async function bundleThreads(options: BundleOptions, places: Places): Promise<void> {
  const found = await threadFiles(places, 'core', path.join(options.outDir, path.dirname(CORE_FILE)));
  for (const name of options.plugins) {
    const folder = `plugins/${name}`;
    found.push(...(await threadFiles(places, folder, path.join(options.outDir, folder))));
  }
  const depths = new Set(found.map(depthOf));
  for (const depth of depths) {
    await run(options, {
      entryPoints: found.filter(file => depthOf(file) === depth),
      outdir: options.outDir,
      outbase: options.rootDir,
      plugins: [places.plugin({ core: 'own', place: () => Array(depth).fill('_').join('/') })],
    });
  }
}

/** How many directories of the project the file lies below. */
function depthOf(file: string): number {
  return file.split('/').length - 1;
}

/** Bundles the page of a plugin, which lies in its folder `page`, into two files beside that folder. */
async function bundlePageOf({ rootDir, outDir }: BundleOptions, folder: string): Promise<void> {
  const sources = path.join(rootDir, folder, 'page');
  if (!existsSync(sources)) return;
  const { script, style } = await bundlePage(sources);
  await writeFile(path.join(outDir, folder, 'page.js'), script);
  await writeFile(path.join(outDir, folder, 'page.css'), style);
}

/**
 * Bundles the command line as one file, because each further one costs every command a millisecond. The modules that it
 * shares with the host keep no state.
 */
async function bundleCommandLine(options: BundleOptions, places: Places): Promise<void> {
  const place = path.dirname(MAIN);
  const hostParts: Plugin = {
    name: 'parts of the host',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path: specifier, resolveDir, kind }) => {
        const source = path.relative(options.rootDir, path.resolve(resolveDir, specifier));
        if (kind !== 'dynamic-import' || !HOST_PARTS.includes(source)) return undefined;
        return { path: relative(place, hostPartFile(source)), external: true };
      });
    },
  };
  await run(options, {
    entryPoints: [{ in: `${MAIN}.ts`, out: MAIN }],
    outdir: options.outDir,
    banner: { js: REQUIRE_OF_NODE },
    plugins: [
      hostParts,
      commandParser(options, places),
      nodeModules,
      places.plugin({ core: 'own', place: () => place }),
    ],
  });
  // npx runs it as a program, through a link that may be older than this build.
  await chmod(path.join(options.outDir, `${MAIN}.js`), 0o755);
}

/**
 * Bundles commander, the parser of arguments, into that file. Its `node:child_process` is loaded only when it runs a
 * program, and its `node:process`, which opens the standard input when it is loaded, is the global `process`.
 */
function commandParser({ rootDir }: BundleOptions, places: Places): Plugin {
  const [file, namespace] = [path.join(rootDir, 'node_modules/commander/index.js'), 'loaded when used'];
  const contents: Readonly<Record<string, string>> = {
    'node:child_process': "exports.spawn = (...args) => require('node:child_process').spawn(...args);\n",
    'node:process': 'module.exports = process;\n',
  };
  return {
    name: 'command parser',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^commander$/ }, ({ path: specifier }) => {
        places.packages.add(specifier);
        return { path: file };
      });
      onResolve({ filter: /^node:/ }, ({ path: specifier, importer }) =>
        importer.startsWith(path.dirname(file)) && specifier in contents ? { path: specifier, namespace } : undefined,
      );
      onLoad({ filter: /./, namespace }, ({ path: specifier }) => ({ contents: contents[specifier] ?? '' }));
    },
  };
}

/**
 * The modules that a thread or a program of its own imports by their path. `bundled` is the directory of the folder's
 * bundle.
 */
async function threadFiles(places: Places, folder: string, bundled: string): Promise<string[]> {
  const found = new Set(folder === 'core' ? [SHARED_BY_THREADS, RELOAD_HOOKS] : []);
  for (const [file, text] of places.below(folder)) {
    const isReader = /^import .*\btext-thread\b/m.test(text) && text.includes('import.meta.url');
    if (isReader) await refuseTwice(text, bundled);
    if (isReader || file.endsWith('-worker.ts')) found.add(file);
    const [, statements] = /\bstatements: '([^']+)'/.exec(text) ?? [];
    if (statements !== undefined) found.add(path.join(folder, `${statements}.ts`));
  }
  return [...found];
}

/**
 * Throws an Error that names a function of this module whose name the bundle has twice: a thread finds a function by
 * its name, and esbuild renames one of two.
 */
async function refuseTwice(text: string, bundled: string): Promise<void> {
  const files = (await readdir(bundled)).filter(name => name.endsWith('.js'));
  const texts = await Promise.all(files.map(name => readFile(path.join(bundled, name), 'utf8')));
  const called = new Set(texts.flatMap(part => [...part.matchAll(/\bfunction (\w+)\(/g)].map(([, name]) => name)));
  for (const [, name] of text.matchAll(/^export (?:async )?function (\w+)/gm)) {
    if (called.has(`${name}2`))
      throw new Error(`${name} is read in a thread by its name; let no other function of ${bundled} be called so`);
  }
}
