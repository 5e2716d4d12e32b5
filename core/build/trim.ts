// `npm run build`: makes `dist` with all or only the named plugins; `--out` makes a plain directory elsewhere.
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { noSuchPlugin } from '../host/plugin-names.ts';
import { errorText } from '../kit/error-text.ts';
import { builtManifest, compileTo, pluginNames, readManifest, rootDir } from './compile.ts';
import { keepCompiled } from './keep-compiled.ts';
import { stageFor, swapDirectory, swapLink } from './swap.ts';

const BUILT = ['core', 'node_modules', 'package-lock.json', 'package.json', 'plugins', 'templates'];

/** `needs` as written in the plugin's index file; the file is read, not run. */
async function needsOf(plugin: string): Promise<string[]> {
  const source = await readFile(path.join(rootDir, 'plugins', plugin, 'index.ts'), 'utf8');
  const [, list = ''] = /\bneeds:\s*\[([^\]]*)\]/.exec(source) ?? [];
  return [...list.matchAll(/'([^']+)'/g)].map(match => match[1] ?? '');
}

/** The wanted plugins and all that they need, directly or indirectly. Throws an Error that names an unknown plugin. */
async function closeOverNeeds(wanted: readonly string[], known: readonly string[]): Promise<Set<string>> {
  const chosen = new Set<string>();
  const add = async (name: string): Promise<void> => {
    if (!known.includes(name)) throw new Error(`${noSuchPlugin(name, known)}; the folders of plugins/ are all`);
    if (chosen.has(name)) return;
    chosen.add(name);
    for (const needed of await needsOf(name)) await add(needed);
  };
  for (const name of wanted) await add(name);
  return chosen;
}

/** Refuses a directory that is neither empty nor an earlier build, because it will be replaced. */
async function refuseForeign(outDir: string): Promise<void> {
  const names = existsSync(outDir) ? await readdir(outDir) : [];
  if (!names.every(name => BUILT.includes(name)))
    throw new Error(`${outDir} holds files that are no earlier build; choose another directory with --out`);
}

async function build(): Promise<void> {
  const { values } = parseArgs({ options: { plugins: { type: 'string' }, out: { type: 'string' } } });
  const outDir = path.resolve(values.out ?? path.join(rootDir, 'dist'));
  const isLink = values.out === undefined;
  await refuseForeign(outDir);
  const known = await pluginNames();
  const chosen = await closeOverNeeds(values.plugins?.split(',').map(name => name.trim()) ?? known, known);
  const stage = await stageFor(outDir, isLink);
  let dependencies: Record<string, string>;
  try {
    dependencies = await compileTo({ outDir: stage, plugins: chosen });
    const manifest = await builtManifest(dependencies);
    await writeFile(path.join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await keepCompiled(stage);
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  await (isLink ? swapLink : swapDirectory)(outDir, stage);
  const without = known.filter(plugin => !chosen.has(plugin));
  const spared = Object.keys((await readManifest()).dependencies).filter(name => !(name in dependencies));
  const packages = spared.length > 0 ? `; packages not needed: ${spared.join(', ')}` : '';
  if (without.length > 0) console.log(`left out: ${without.join(', ')}${packages}`);
}

build().catch((error: unknown) => {
  console.error(errorText(error));
  process.exit(1);
});
