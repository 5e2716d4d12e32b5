// Module hooks that pass the generation of an imported module on to the modules of its folder, so that a reload is
// complete.

interface ResolveContext {
  readonly parentURL?: string;
}

interface Resolved {
  readonly url: string;
}

export async function resolve(
  specifier: string,
  context: ResolveContext,
  next: (specifier: string, context: ResolveContext) => Promise<Resolved>,
): Promise<Resolved> {
  const resolved = await next(specifier, context);
  const parent = context.parentURL === undefined ? null : new URL(context.parentURL);
  const generation = parent?.searchParams.get('generation');
  if (parent === null || generation === null || generation === undefined) return resolved;
  const url = new URL(resolved.url);
  const inFolder = url.protocol === 'file:' && url.pathname.startsWith(new URL('.', parent).pathname);
  if (!inFolder || url.pathname.includes('/node_modules/')) return resolved;
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
}
