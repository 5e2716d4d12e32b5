// The core of a build: one script, of which the modules beside it hand a part on to whoever imports them, so that
// everybody in the main thread has the same core and the same libraries. See core/build/core-script.ts.
import { createRequire } from 'node:module';
import { CompiledScript } from './compiled-script.ts';

type Exports = Readonly<Record<string, unknown>>;
type Load = (require: NodeJS.Require, onDemand: typeof importOnDemand, meta: ImportMeta) => Core;

/** By the specifiers of the modules beside this one. */
interface Core {
  readonly parts: Readonly<Record<string, Exports>>;
  /** Each is run when somebody first asks for it. */
  readonly libraries: Readonly<Record<string, () => Promise<Exports>>>;
}

export const script = new CompiledScript(new URL('../bundle/core-script.cjs', import.meta.url));
const load = script.run() as Load;
export const { parts, libraries } = load(createRequire(import.meta.url), importOnDemand, import.meta);

/** An import beside this module takes longer than to hand out what it would find. */
async function importOnDemand(specifier: string): Promise<unknown> {
  if (specifier.startsWith('node:')) return nodeModule(specifier);
  return parts[specifier] ?? libraries[specifier]?.() ?? import(specifier);
}

/** For an import Node would make a copy of all that the module has. */
function nodeModule(specifier: string): unknown {
  const all: object | undefined = process.getBuiltinModule(specifier);
  return all === undefined ? import(specifier) : Object.create(all, { default: { value: all } });
}
