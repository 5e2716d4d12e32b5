// Module hooks that pass the generation of an imported module on to the modules of its folder, so that a reload of a
// plugin reads all of its modules again.
import * as nodeModule from 'node:module';

interface ResolveContext {
  readonly parentURL?: string;
}

interface Resolved {
  readonly url: string;
}

type Next<Result> = (specifier: string, context: ResolveContext) => Result;

interface SyncHooks {
  resolve(specifier: string, context: ResolveContext, next: Next<Resolved>): Resolved;
}

/** Node 20 has no hooks in the thread that imports, and later releases warn of those in a thread of their own. */
const { registerHooks } = nodeModule as { readonly registerHooks?: (hooks: SyncHooks) => void };

/** Adds the hooks to this process. `file` is this module, for releases of Node that load it in a thread of its own. */
export function addReloadHooks(file: URL): void {
  if (registerHooks === undefined) nodeModule.register(file);
  else registerHooks({ resolve: (specifier, context, next) => inGeneration(next(specifier, context), context) });
}

/** The hook as a thread of Node's own calls it. */
export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: Next<Promise<Resolved>>,
): Promise<Resolved> {
  return inGeneration(await next(specifier, context), context);
}

function inGeneration(resolved: Resolved, { parentURL }: ResolveContext): Resolved {
  const parent = parentURL === undefined ? null : new URL(parentURL);
  const generation = parent?.searchParams.get('generation');
  if (parent === null || generation === null || generation === undefined) return resolved;
  const url = new URL(resolved.url);
  const inFolder = url.protocol === 'file:' && url.pathname.startsWith(new URL('.', parent).pathname);
  if (!inFolder || url.pathname.includes('/node_modules/')) return resolved;
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
}
