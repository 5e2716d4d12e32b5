// What everybody in the process calls by a global name, such as `Promise` or `setTimeout`: a plugin that assigns
// another to it fails there and is named, instead of replacing it for the host and all others.

/** Of what these hold, too. Nothing inherits from them, so that whoever has members of the same names may set those. */
const NAMESPACES = [JSON, Math, Reflect];

/** The returned function lets the names be assigned to again. */
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
