// Makes one build in a directory: plain JavaScript, with folders at the same places as in the sources, so that they
// stay deletable.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from './bundle.ts';
import { CORE_FILE } from './places.ts';

const run = promisify(execFile);
export const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** The script that runs the host as PID 1 of a container. */
const INIT = 'core/cli/init.sh';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  /** The packages whose install scripts npm may run; npm 12 skips all others. */
  readonly allowScripts: Record<string, boolean>;
}

export interface BuildOptions {
  /** The directory must not exist yet. */
  readonly outDir: string;
  readonly plugins: ReadonlySet<string>;
  /** Further entry points, relative to the root. */
  readonly include?: readonly string[];
  /** Whether a `.d.ts` file is written for each source. */
  readonly declarations?: boolean;
}

export async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(rootDir, 'package.json'), 'utf8')) as Manifest;
}

export async function pluginNames(): Promise<string[]> {
  const entries = await readdir(path.join(rootDir, 'plugins'), { withFileTypes: true });
  return entries.filter(entry => entry.isDirectory()).map(entry => entry.name);
}

/** Writes everything but the manifest. Returns the packages that the code needs, with their versions. */
export async function compileTo({
  outDir,
  plugins,
  include = [],
  declarations = false,
}: BuildOptions): Promise<Record<string, string>> {
  await mkdir(outDir, { recursive: true });
  const specifiers = await bundle({ rootDir, outDir, plugins, include });
  if (declarations) await declare(outDir, ['core', 'plugins', ...include]);
  await copyAssets(plugins, outDir);
  await compilePluginTemplate(path.join(outDir, 'templates', 'plugin'));
  return packagesAmong(specifiers, (await readManifest()).dependencies);
}

/** The manifest of a build. */
export async function builtManifest(dependencies: Record<string, string>): Promise<Record<string, unknown>> {
  const { name, version, description, license, engines, allowScripts } = await readManifest();
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { stackwarden: 'core/cli/main.js', 'stackwarden-init': INIT },
    imports: {
      '#core': { types: './core/contract/plugin.d.ts', default: `./${CORE_FILE}` },
      '#kit/*': { types: './core/kit/*.d.ts', default: `./${CORE_FILE}` },
    },
    dependencies,
    allowScripts: Object.fromEntries(
      Object.entries(allowScripts).filter(([needed]) => Object.hasOwn(dependencies, needed)),
    ),
  };
}

/** Writes a `.d.ts` file for each source, whose types `npm run check` checks. */
async function declare(outDir: string, include: readonly string[]): Promise<void> {
  const project = path.join(outDir, 'tsconfig.json');
  const config = {
    extends: path.join(rootDir, 'tsconfig.json'),
    compilerOptions: {
      rootDir,
      outDir,
      declaration: true,
      emitDeclarationOnly: true,
      noEmit: false,
      typeRoots: [path.join(rootDir, 'node_modules', '@types')],
    },
    include: include.map(place => path.join(rootDir, place)),
    exclude: [path.join(rootDir, 'core', 'build'), path.join(rootDir, 'plugins', '*', 'page')],
  };
  await writeFile(project, JSON.stringify(config));
  await runCompiler(['--project', project, '--noCheck']);
  await rm(project);
}

/**
 * Compiles the template of `create-plugin` for releases of Node that cannot run TypeScript; its types come from the
 * package.
 */
async function compilePluginTemplate(directory: string): Promise<void> {
  await runCompiler(['--project', directory, '--noCheck', '--types', '']);
}

async function runCompiler(args: readonly string[]): Promise<void> {
  const compiler = path.join(rootDir, 'node_modules', 'typescript', 'lib', 'tsc.js');
  try {
    // On one thread, because the compiler's threads repeat each other's work.
    await run(process.execPath, [compiler, '--singleThreaded', ...args]);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`the compiler found errors:\n${stdout}${stderr}`, { cause: error });
  }
}

async function files(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
}

/**
 * Copies what is not TypeScript: pages, scripts and data of plugins, and the init of containers. The folder `page` of a
 * plugin is bundled instead.
 */
async function copyAssets(plugins: ReadonlySet<string>, outDir: string): Promise<void> {
  for (const name of plugins) {
    const folder = path.join(rootDir, 'plugins', name);
    for (const file of await files(folder)) {
      const isBundled = file.endsWith('.ts') || file.startsWith(path.join(folder, 'page', path.sep));
      if (!isBundled) await cp(file, path.join(outDir, path.relative(rootDir, file)));
    }
  }
  await cp(path.join(rootDir, INIT), path.join(outDir, INIT));
  await cp(path.join(rootDir, 'templates'), path.join(outDir, 'templates'), { recursive: true });
}

function packagesAmong(specifiers: ReadonlySet<string>, all: Record<string, string>): Record<string, string> {
  const uses = (name: string): boolean =>
    [...specifiers].some(specifier => specifier === name || specifier.startsWith(`${name}/`));
  return Object.fromEntries(Object.entries(all).filter(([name]) => uses(name)));
}
