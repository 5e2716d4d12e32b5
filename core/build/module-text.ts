// Makes the texts of modules that a build generates: they export again what others export.
import type { Plugin } from 'esbuild';

/** What a package or a module of Node exports by names that are words. */
export async function exportsOf(specifier: string): Promise<string[]> {
  const module = (await import(specifier)) as Record<string, unknown>;
  return Object.keys(module).filter(name => /^\w+$/.test(name) && !isMadeByNode(module, name));
}

/** Node itself, but not every loader, adds these to a CommonJS module that was compiled from an ES module. */
function isMadeByNode({ __esModule: isCompiled, default: whole }: Record<string, unknown>, name: string): boolean {
  if (name === 'default') return isCompiled === true && whole instanceof Object && !('default' in whole);
  return name === '__esModule';
}

/** The text of a module that exports each of these names with the value of its expression. */
export function moduleText(names: readonly string[], expression: (name: string) => string): string {
  // With a `$`, because some names are reserved words.
  return names.map(name => `const $${name}=${expression(name)};\nexport{$${name} as ${name}};\n`).join('');
}

/** Finds modules by their specifiers among `texts`. What they import is looked for from `resolveDir`. */
export function madeUp(texts: ReadonlyMap<string, string>, resolveDir: string): Plugin {
  const filter = new RegExp(`^(?:${[...texts.keys()].map(name => name.replaceAll('.', '\\.')).join('|')})$`);
  return {
    name: 'made-up modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, ({ path }) => ({ path, namespace: 'made up' }));
      onLoad({ filter, namespace: 'made up' }, ({ path }) => ({ contents: texts.get(path) ?? '', resolveDir }));
    },
  };
}
