// `npm run package`: packs the product for npm, with types and contract suites for plugins that are developed
// elsewhere.
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { errorText } from '../kit/error-text.ts';
import { builtManifest, compileTo, pluginNames, readManifest, rootDir } from './compile.ts';
import { keepCompiled } from './keep-compiled.ts';
import { CORE_FILE } from './places.ts';
import { stageFor, swapDirectory } from './swap.ts';

const EXPORTS = {
  './plugin': { types: './plugin.d.ts', default: './plugin.js' },
  './plugins/*': { types: './plugins/*/contract.d.ts' },
  './contracts': { types: './test/contracts/index.d.ts', default: './test/contracts/index.js' },
  './package.json': './package.json',
};

/** What authors of plugins read besides the types. */
const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md'];

/**
 * Writes the contract's entry of the package. Its types include what plugins declare on the contract's interfaces, so
 * that importing the contract is enough.
 */
async function writeContract(outDir: string): Promise<void> {
  const names = await readdir(path.join(outDir, 'plugins'), { recursive: true });
  const additions: string[] = [];
  for (const name of names.filter(candidate => candidate.endsWith('.d.ts')).sort()) {
    const text = await readFile(path.join(outDir, 'plugins', name), 'utf8');
    if (text.includes("declare module '#core'"))
      additions.push(`import './plugins/${name.replace(/\.d\.ts$/, '.js')}';`);
  }
  const values = Object.keys(await import('../contract/plugin.ts'));
  await writeFile(path.join(outDir, 'plugin.js'), `export { ${values.join(', ')} } from './${CORE_FILE}';\n`);
  const contract = "export * from './core/contract/plugin.js';\n";
  await writeFile(path.join(outDir, 'plugin.d.ts'), `${additions.join('\n')}\n${contract}`);
}

async function build(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  const outDir = path.resolve(values.out ?? path.join(rootDir, 'package'));
  const stage = await stageFor(outDir, false);
  try {
    const dependencies = await compileTo({
      outDir: stage,
      plugins: new Set(await pluginNames()),
      include: ['test/contracts/index.ts'],
      declarations: true,
    });
    await writeContract(stage);
    const { tap, 'fast-check': fastCheck } = (await readManifest()).devDependencies;
    const manifest = {
      ...(await builtManifest(dependencies)),
      exports: EXPORTS,
      // Peer dependencies, because the contract suites run among the plugin's own tests.
      peerDependencies: { 'fast-check': `^${fastCheck}`, tap: `^${tap}` },
      peerDependenciesMeta: { 'fast-check': { optional: true }, tap: { optional: true } },
    };
    await writeFile(path.join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await keepCompiled(stage);
    const ofPlugins = (await readdir(path.join(rootDir, 'plugins'), { recursive: true }))
      .filter(file => path.basename(file) === 'README.md')
      .map(file => path.join('plugins', file));
    for (const file of [...DOCUMENTS, ...ofPlugins]) await cp(path.join(rootDir, file), path.join(stage, file));
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  await swapDirectory(outDir, stage);
}

build().catch((error: unknown) => {
  console.error(errorText(error));
  process.exit(1);
});
