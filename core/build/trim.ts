// Builds `dist/`: plain JavaScript in the same tree, whole or with the named plugins only. Folders stay deletable.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const rootDir = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly engines: Record<string, string>;
  readonly imports: Record<string, string>;
  readonly dependencies: Record<string, string>;
}

/** `needs` as a plugin's index file states it; the file is read, not run. */
async function needsOf(plugin: string): Promise<string[]> {
  const source = await readFile(path.join(rootDir, 'plugins', plugin, 'index.ts'), 'utf8');
  const [, list = ''] = /\bneeds:\s*\[([^\]]*)\]/.exec(source) ?? [];
  return [...list.matchAll(/'([^']+)'/g)].map(match => match[1] ?? '');
}

/** The wanted plugins and everything that they need. Throws an Error that names an unknown one. */
async function closeOverNeeds(wanted: readonly string[], known: readonly string[]): Promise<Set<string>> {
  const chosen = new Set<string>();
  const add = async (name: string): Promise<void> => {
    if (!known.includes(name)) throw new Error(`there is no plugin '${name}'; there are ${known.join(', ')}`);
    if (chosen.has(name)) return;
    chosen.add(name);
    for (const needed of await needsOf(name)) await add(needed);
  };
  for (const name of wanted) await add(name);
  return chosen;
}

async function compile(plugins: ReadonlySet<string>, outDir: string): Promise<void> {
  const cacheDir = path.join(rootDir, 'node_modules', '.cache', 'stackwarden');
  await mkdir(cacheDir, { recursive: true });
  const project = path.join(cacheDir, `tsconfig-${process.pid}.json`);
  const config = {
    extends: path.join(rootDir, 'tsconfig.json'),
    compilerOptions: { rootDir, outDir, noEmit: false, typeRoots: [path.join(rootDir, 'node_modules', '@types')] },
    include: [path.join(rootDir, 'core'), ...[...plugins].map(name => path.join(rootDir, 'plugins', name))],
    exclude: [path.join(rootDir, 'core', 'build')],
  };
  await writeFile(project, JSON.stringify(config));
  try {
    await run(process.execPath, [
      path.join(rootDir, 'node_modules', 'typescript', 'lib', 'tsc.js'),
      '--project',
      project,
    ]);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`the compiler found errors:\n${stdout}${stderr}`, {
      cause: error,
    });
  } finally {
    await rm(project, { force: true });
  }
}

async function files(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
}

/** Files of plugin folders that are no TypeScript: pages, scripts, data. */
async function copyAssets(plugins: ReadonlySet<string>, outDir: string): Promise<void> {
  for (const name of plugins) {
    for (const file of await files(path.join(rootDir, 'plugins', name))) {
      if (!file.endsWith('.ts')) await cp(file, path.join(outDir, path.relative(rootDir, file)));
    }
  }
  await cp(path.join(rootDir, 'templates'), path.join(outDir, 'templates'), { recursive: true });
}

/** npm packages that the emitted code still names, in imports or as paths to resolve. */
async function packagesUsed(outDir: string, all: Record<string, string>): Promise<Record<string, string>> {
  const scripts = (await files(outDir)).filter(
    file => file.endsWith('.js') && !file.includes(`${path.sep}templates${path.sep}`),
  );
  const specifiers = new Set<string>();
  for (const script of scripts) {
    for (const match of (await readFile(script, 'utf8')).matchAll(
      /(?:from|import|resolve)\s*\(?\s*['"]([^'"]+)['"]/g,
    )) {
      specifiers.add(match[1] ?? '');
    }
  }
  const uses = (name: string): boolean =>
    [...specifiers].some(specifier => specifier === name || specifier.startsWith(`${name}/`));
  return Object.fromEntries(Object.entries(all).filter(([name]) => uses(name)));
}

/** The directory is emptied first, so it must be new, empty or an earlier build. */
async function refuseForeign(outDir: string): Promise<void> {
  const names = existsSync(outDir) ? await readdir(outDir) : [];
  const isBuild = names.every(name =>
    ['core', 'node_modules', 'package-lock.json', 'package.json', 'plugins', 'templates'].includes(name),
  );
  if (!isBuild) throw new Error(`${outDir} holds files that are no earlier build; choose another directory with --out`);
}

async function build(): Promise<void> {
  const { values } = parseArgs({ options: { plugins: { type: 'string' }, out: { type: 'string' } } });
  const outDir = path.resolve(values.out ?? path.join(rootDir, 'dist'));
  await refuseForeign(outDir);
  const known = (await readdir(path.join(rootDir, 'plugins'), { withFileTypes: true }))
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name);
  const wanted = values.plugins?.split(',').map(name => name.trim()) ?? known;
  const chosen = await closeOverNeeds(wanted, known);
  await rm(outDir, { recursive: true, force: true });
  await compile(chosen, outDir);
  // Types of a plugin that is left out may have been read; what the compiler emits for them is nothing to run.
  for (const plugin of known.filter(name => !chosen.has(name))) {
    await rm(path.join(outDir, 'plugins', plugin), { recursive: true, force: true });
  }
  await copyAssets(chosen, outDir);
  const manifest = JSON.parse(await readFile(path.join(rootDir, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, engines } = manifest;
  const dependencies = await packagesUsed(outDir, manifest.dependencies);
  const built = {
    name,
    version,
    license,
    type: 'module',
    engines,
    bin: { stackwarden: 'core/cli/main.js' },
    imports: Object.fromEntries(
      Object.entries(manifest.imports).map(([name, file]) => [name, file.replace(/\.ts$/, '.js')]),
    ),
    dependencies,
  };
  await writeFile(path.join(outDir, 'package.json'), `${JSON.stringify(built, null, 2)}\n`);
  const without = known.filter(plugin => !chosen.has(plugin));
  const spared = Object.keys(manifest.dependencies).filter(dependency => !(dependency in dependencies));
  if (without.length > 0)
    console.log(
      `left out: ${without.join(', ')}${spared.length > 0 ? `; packages not needed: ${spared.join(', ')}` : ''}`,
    );
}

build().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
