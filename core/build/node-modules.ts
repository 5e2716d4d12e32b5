// Replaces imports of Node's modules in a bundle, because an import copies all exports of such a module.
import type { Plugin } from 'esbuild';
import { exportsOf, moduleText } from './module-text.ts';

/** The first line of a bundle, by which it and CommonJS inside of it load modules of Node. */
export const REQUIRE_OF_NODE = 'const require = process.getBuiltinModule;';

/** Takes from each module only the exports that are used. */
export const nodeModules: Plugin = {
  name: 'modules of Node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path: specifier, kind }) =>
      kind === 'import-statement' ? { path: specifier, namespace: 'module of Node' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'module of Node' }, async ({ path: specifier }) => {
      const head = `const all=require(${JSON.stringify(specifier)});function taken(name){return all[name]}\n`;
      const names = (await exportsOf(specifier)).filter(name => name !== 'default');
      const text = moduleText(names, name => `/* @__PURE__ */ taken("${name}")`);
      return { contents: `${head}export default all;\n${text}` };
    });
  },
};
