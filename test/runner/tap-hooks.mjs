// What Node's loader asks in a shared process: `tap` is the root test of the file that runs.
const TAP_OF_FILE = new URL('./tap-of-file.ts', import.meta.url).href;

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, nextResolve) {
  return specifier === 'tap' ? { shortCircuit: true, url: TAP_OF_FILE } : nextResolve(specifier, context);
}
