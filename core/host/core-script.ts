// The core of a build: one script, of which the modules beside it hand a part on to whoever imports them, so that
// everybody in the main thread has the same core and the same libraries. See core/build/core-script.ts.
import { createRequire } from 'node:module';
import { CompiledScript } from './compiled-script.ts';

type Exports = Readonly<Record<string, unknown>>;
type Load = (require: NodeJS.Require, onDemand: (specifier: string) => Promise<unknown>, meta: ImportMeta) => Core;

interface Core {
  /** By the files from which they are imported. */
  readonly parts: Readonly<Record<string, Exports>>;
  /** Each is run when somebody first asks for it. */
  readonly libraries: Readonly<Record<string, () => Promise<Exports>>>;
}

export const script = new CompiledScript(new URL('../bundle/core-script.cjs', import.meta.url));
const load = script.run() as Load;
/** What the script imports on demand lies beside this module. */
export const { parts, libraries } = load(createRequire(import.meta.url), specifier => import(specifier), import.meta);
