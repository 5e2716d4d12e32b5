// Bundles each library that a start needs as a file or two, for threads and commands. The main thread has them in the
// script of the core.
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { exportsOf, madeUp } from './module-text.ts';
import { type Directories, run } from './output.ts';
import { LIBRARIES, LIBRARY_DIR, libraryFile, withoutExtension } from './places.ts';

/** CommonJS inside of a bundle requires modules of Node. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

export async function bundleLibraries(directories: Directories): Promise<void> {
  const texts = new Map<string, string>();
  for (const library of LIBRARIES)
    texts.set(libraryFile(library), `export { ${(await exportsOf(library)).join(', ')} } from '${library}';\n`);
  await run(directories, {
    entryPoints: [...texts.keys()].map(file => ({ in: file, out: withoutExtension(file) })),
    outdir: directories.outDir,
    splitting: true,
    chunkNames: `${LIBRARY_DIR}/[name]-[hash]`,
    banner: { js: REQUIRE },
    mainFields: ['module', 'main'],
    sourcemap: false,
    plugins: [madeUp(texts, directories.rootDir), zodLocales],
  });
}

/**
 * Leaves out zod's messages in sixty languages, which are more than a third of it; a locale that is used is loaded from
 * the package.
 */
export const zodLocales: Plugin = {
  name: 'zod locales',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod\/v4\/locales$/ }, () => ({ external: true }));
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      const names = [...text.matchAll(/\bdefault as (\w+)/g)].map(([, name]) => name);
      const locales = names.map(name => `export const ${name} = () => require('zod/v4/locales').${name}();\n`);
      return { contents: locales.join('') };
    });
  },
};
