// Says of each import where it is found in a build, and of each module where it was: bundles lie where their sources
// did.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';

/** Every other library is native, or is imported only when something asks for it, and stays a package. */
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
/** What the main thread uses of the core, whoever imports it: a second instance would not know the first. */
export const CORE_FILE = `${CORE_DIR}/core.js`;
/** What a command imports when it runs the host or reads as the host does, and what keeps the plugins compiled. */
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
/** A thread's file and what it imports on demand are bundled each by itself, but for this. */
export const SHARED_BY_THREADS = 'core/contract/problem.ts';

/**
 * No name of a module of Node, of which esbuild knows itself: each question to this process costs more than its answer.
 */
const PACKAGE = /^(?:[^.#/n]|n(?:[^o]|o(?:[^d]|d(?:[^e]|e[^:]))))/;

export interface Placement {
  /** Whether the bundle is that of the core, holds what it uses of the core, or imports it from that bundle. */
  readonly core: 'whole' | 'own' | 'shared';
  /** The directory that what is made of a source comes into, relative to the build. */
  place(source: string): string;
}

/** The project's sources, as bundles of one build import them. */
export class Places {
  /** The specifiers of all packages that the bundles import. */
  readonly packages = new Set<string>();
  readonly #rootDir: string;
  /** By their places in the project. */
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
      const read = await Promise.all(files.map(file => readFile(path.join(rootDir, file), 'utf8')));
      for (const [index, file] of files.entries()) texts.set(file, read[index] ?? '');
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

/** Where threads and commands find it. */
export function libraryFile(library: string): string {
  return `${LIBRARY_DIR}/${libraryName(library)}`;
}

/** Where the main thread does. */
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
