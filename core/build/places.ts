// Resolves imports to files of a build, and keeps `import.meta.url` of each module as if the module lay at its own
// place: bundles lie where their sources did.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

/** The libraries that are bundled. Every other one is native or imported on demand, and stays a package. */
export const LIBRARIES = [
  'chokidar',
  'croner',
  'helmet',
  'jsonc-parser',
  'jsonwebtoken',
  'p-queue',
  'pino',
  'semver/functions/satisfies.js',
  'semver/ranges/valid.js',
  'tapable',
  'ws',
  'yaml',
  'zod',
];
export const LIBRARY_DIR = 'core/libraries';

/** Where the core lies, two directories below the build. */
export const CORE_DIR = 'core/bundle';
/** The core for all code in the main thread: a second instance of a module would not share the state of the first. */
export const CORE_FILE = `${CORE_DIR}/core.js`;
/**
 * The modules that a command imports when it runs the host or reads as the host does, and the one that reads the joined
 * plugins.
 */
export const HOST_PARTS = [
  'core/cli/check.ts',
  'core/cli/configured-settings.ts',
  'core/cli/create-plugin.ts',
  'core/cli/plugins.ts',
  'core/cli/read-only.ts',
  'core/cli/start.ts',
  'core/host/joined-plugins.ts',
  'core/host/plugin-trust.ts',
];
/** The only module that the bundle of a thread shares with bundles that it imports on demand. */
export const SHARED_BY_THREADS = 'core/contract/problem.ts';

/**
 * Specifiers of packages, but not of Node's modules, which esbuild knows itself: each callback into this process costs
 * time.
 */
const PACKAGE = /^(?:[^.#/n]|n(?:[^o]|o(?:[^d]|d(?:[^e]|e[^:]))))/;

export interface Placement {
  /**
   * `whole`: the bundle is that of the core. `own`: it holds what it uses of the core. `shared`: it imports that from
   * the core's bundle.
   */
  readonly core: 'whole' | 'own' | 'shared';
  /** The directory of the bundle that a source becomes a part of, relative to the build. */
  place(source: string): string;
}

/** The project's sources, as bundles of one build import them. */
export class Places {
  /** The specifiers of all packages that the bundles import. */
  readonly packages = new Set<string>();
  readonly #rootDir: string;
  /** The texts of the sources, by their places in the project. */
  readonly #texts: ReadonlyMap<string, string>;

  private constructor(rootDir: string, texts: ReadonlyMap<string, string>) {
    this.#rootDir = rootDir;
    this.#texts = texts;
  }

  /** Reads the sources in these folders of the project. */
  static async of(rootDir: string, folders: readonly string[]): Promise<Places> {
    const texts = new Map<string, string>();
    for (const folder of folders.filter(name => existsSync(path.join(rootDir, name)))) {
      const names = await readdir(path.join(rootDir, folder), { recursive: true });
      const files = names.filter(name => name.endsWith('.ts')).map(name => path.join(folder, name));
      // One at a time: there are more sources than files that a build of an image may have open.
      for (const file of files) texts.set(file, await readFile(path.join(rootDir, file), 'utf8'));
    }
    return new Places(rootDir, texts);
  }

  /** The sources of a folder with their texts. */
  below(folder: string): [file: string, text: string][] {
    return [...this.#texts].filter(([file]) => file.startsWith(folder + path.sep));
  }

  plugin({ core, place }: Placement): Plugin {
    const sourceOf = (file: string) => path.relative(this.#rootDir, file);
    const elsewhere = (importer: string, file: string) => ({
      path: relative(place(sourceOf(importer)), file),
      external: true,
    });
    const placed = [...this.#texts].filter(([, text]) => text.includes('import.meta.')).map(([file]) => file);
    return {
      name: 'places',
      setup: ({ onResolve, onLoad }) => {
        onResolve(
          { filter: /^#|^\..*(?:\bcore\/|\bproblem\.ts$)/ },
          ({ path: specifier, resolveDir, importer, kind }) => {
            if (kind === 'entry-point' || resolveDir.includes('/node_modules/')) return undefined;
            const source = specifier.startsWith('#')
              ? aliased(specifier)
              : sourceOf(path.resolve(resolveDir, specifier));
            if (core === 'shared' && source.startsWith('core/')) return elsewhere(importer, CORE_FILE);
            if (core === 'own' && source === SHARED_BY_THREADS) return elsewhere(importer, toJs(source));
            return { path: path.join(this.#rootDir, source) };
          },
        );
        onResolve({ filter: PACKAGE }, ({ path: specifier, resolveDir, importer, kind }) => {
          if (kind === 'entry-point') return undefined;
          if (resolveDir.includes('/node_modules/')) return undefined;
          this.packages.add(specifier);
          if (!LIBRARIES.includes(specifier)) return { external: true };
          if (core === 'whole') return undefined;
          return elsewhere(importer, core === 'own' ? libraryFile(specifier) : sharedLibraryFile(specifier));
        });
        if (placed.length === 0) return;
        onLoad({ filter: new RegExp(`/(?:${placed.join('|').replaceAll('.', '\\.')})$`) }, ({ path: file }) => {
          const text = this.#texts.get(sourceOf(file));
          if (text === undefined) return undefined;
          for (const [, specifier = ''] of text.matchAll(/\bresolve\(\s*'([^']+)'/g)) this.packages.add(specifier);
          const own = relative(place(sourceOf(file)), toJs(sourceOf(file)));
          const url = `new URL('${own}', import.meta.url).href`;
          return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' };
        });
      },
    };
  }
}

function aliased(specifier: string): string {
  return specifier === '#core' ? 'core/contract/plugin.ts' : `core/kit/${specifier.slice('#kit/'.length)}.ts`;
}

/** Where threads and commands find the library. */
export function libraryFile(library: string): string {
  return `${LIBRARY_DIR}/${libraryName(library)}`;
}

/** Where the main thread finds the library. */
export function sharedLibraryFile(library: string): string {
  return `${CORE_DIR}/${libraryName(library)}`;
}

function libraryName(library: string): string {
  return `${withoutExtension(library.replaceAll('/', '-'))}.js`;
}

export function withoutExtension(file: string): string {
  return file.replace(/\.c?js$/, '');
}

export function hostPartFile(source: string): string {
  return `${CORE_DIR}/${path.basename(toJs(source))}`;
}

function toJs(source: string): string {
  return source.replace(/\.ts$/, '.js');
}

export function relative(directory: string, file: string): string {
  const way = path.relative(directory, file);
  return way.startsWith('.') ? way : `./${way}`;
}
