// Compiles one build into a directory: plain JavaScript in the same tree as the sources, so that folders stay
// deletable.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const rootDir = fileURLToPath(new URL('../..', import.meta.url));

/** What runs the host as PID 1 of a container. */
const INIT = 'core/cli/init.sh';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Record<string, string>;
  readonly imports: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

export interface BuildOptions {
  /** The directory must not exist yet. */
  readonly outDir: string;
  readonly plugins: ReadonlySet<string>;
  /** Further sources, relative to the root. */
  readonly include?: readonly string[];
  /** Whether a `.d.ts` file is written beside each file. */
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
  await compile(outDir, ['core', ...[...plugins].map(name => path.join('plugins', name)), ...include], declarations);
  // The compiler also emits files of a plugin that was left out but whose types were read; these are removed.
  for (const plugin of await pluginNames()) {
    if (!plugins.has(plugin)) await rm(path.join(outDir, 'plugins', plugin), { recursive: true, force: true });
  }
  await copyAssets(plugins, outDir);
  await compilePluginTemplate(path.join(outDir, 'templates', 'plugin'));
  return packagesUsed(outDir, (await readManifest()).dependencies);
}

/** The manifest of a build. */
export async function builtManifest(dependencies: Record<string, string>): Promise<Record<string, unknown>> {
  const { name, version, description, license, engines, imports } = await readManifest();
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    bin: { stackwarden: 'core/cli/main.js', 'stackwarden-init': INIT },
    imports: Object.fromEntries(Object.entries(imports).map(([alias, file]) => [alias, file.replace(/\.ts$/, '.js')])),
    dependencies,
  };
}

async function compile(outDir: string, include: readonly string[], declaration: boolean): Promise<void> {
  const project = path.join(outDir, 'tsconfig.json');
  const config = {
    extends: path.join(rootDir, 'tsconfig.json'),
    compilerOptions: {
      rootDir,
      outDir,
      declaration,
      noEmit: false,
      typeRoots: [path.join(rootDir, 'node_modules', '@types')],
    },
    include: include.map(place => path.join(rootDir, place)),
    exclude: [path.join(rootDir, 'core', 'build')],
  };
  await writeFile(project, JSON.stringify(config));
  await runCompiler(['--project', project]);
  await rm(project);
  // npx runs it as a program, through a link that may be older than this build.
  await chmod(path.join(outDir, 'core', 'cli', 'main.js'), 0o755);
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
    await run(process.execPath, [compiler, ...args]);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`the compiler found errors:\n${stdout}${stderr}`, { cause: error });
  }
}

async function files(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
}

/** Copies what is not TypeScript: pages, scripts and data of plugins, and the init of containers. */
async function copyAssets(plugins: ReadonlySet<string>, outDir: string): Promise<void> {
  for (const name of plugins) {
    for (const file of await files(path.join(rootDir, 'plugins', name))) {
      if (!file.endsWith('.ts')) await cp(file, path.join(outDir, path.relative(rootDir, file)));
    }
  }
  await cp(path.join(rootDir, INIT), path.join(outDir, INIT));
  await cp(path.join(rootDir, 'templates'), path.join(outDir, 'templates'), { recursive: true });
}

/** npm packages that the emitted code refers to, in imports or as paths to resolve. */
async function packagesUsed(outDir: string, all: Record<string, string>): Promise<Record<string, string>> {
  const scripts = (await files(outDir)).filter(
    file => /\.(js|d\.ts)$/.test(file) && !file.includes(`${path.sep}templates${path.sep}`),
  );
  const specifiers = new Set<string>();
  for (const script of scripts) {
    const text = await readFile(script, 'utf8');
    for (const match of text.matchAll(/(?:from|import|resolve)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      specifiers.add(match[1] ?? '');
    }
  }
  const uses = (name: string): boolean =>
    [...specifiers].some(specifier => specifier === name || specifier.startsWith(`${name}/`));
  return Object.fromEntries(Object.entries(all).filter(([name]) => uses(name)));
}
