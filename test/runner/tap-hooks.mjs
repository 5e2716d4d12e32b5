// The loader hook of a shared process: `tap` resolves to the root test of the running file.
const TAP_OF_FILE = new URL('./tap-of-file.ts', import.meta.url).href;

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, nextResolve) {
  return specifier === 'tap' ? { shortCircuit: true, url: TAP_OF_FILE } : nextResolve(specifier, context);
}
