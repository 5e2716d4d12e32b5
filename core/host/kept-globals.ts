// Makes global functions, such as `Promise` or `setTimeout`, read-only: a plugin that assigns to one fails at that
// line, instead of replacing the function for the host and all other plugins.

/**
 * Objects that are frozen too. No object inherits from them, so no assignment to another object fails because of it.
 */
const NAMESPACES = [JSON, Math, Reflect];

/** The returned function makes the global names writable again. */
export function keepGlobals(): () => void {
  const kept = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
    .filter(([, { value, writable, configurable }]) => typeof value === 'function' && writable && configurable)
    .map(([name]) => name);
  for (const name of kept) Object.defineProperty(globalThis, name, { writable: false });
  for (const namespace of NAMESPACES) Object.freeze(namespace);
  return () => {
    for (const name of kept) Object.defineProperty(globalThis, name, { writable: true });
  };
}
