// The core of a build as one script: the modules beside this one re-export its parts, so that all code in the main
// thread shares the same core and the same libraries. See core/build/core-script.ts.
import { createRequire } from 'node:module';
import { CompiledScript } from './compiled-script.ts';

type Exports = Readonly<Record<string, unknown>>;
type Load = (require: NodeJS.Require, onDemand: typeof importOnDemand, meta: ImportMeta) => Core;

/** The exports of the script, by the specifiers of the modules that re-export them. */
interface Core {
  readonly parts: Readonly<Record<string, Exports>>;
  /** Functions that load a library, each called when the library is first imported. */
  readonly libraries: Readonly<Record<string, () => Promise<Exports>>>;
}

export const script = new CompiledScript(new URL('../bundle/core-script.cjs', import.meta.url));
const load = script.run() as Load;
export const { parts, libraries } = load(createRequire(import.meta.url), importOnDemand, import.meta);

/** Answers an import from the script where possible, because a real import takes longer. */
async function importOnDemand(specifier: string): Promise<unknown> {
  if (specifier.startsWith('node:')) return nodeModule(specifier);
  return parts[specifier] ?? libraries[specifier]?.() ?? import(specifier);
}

/** A module of Node, without an import, for which Node would copy all exports of the module. */
function nodeModule(specifier: string): unknown {
  const all: object | undefined = process.getBuiltinModule(specifier);
  return all === undefined ? import(specifier) : Object.create(all, { default: { value: all } });
}
