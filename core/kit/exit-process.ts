// The end of the process, with this code, whatever plugins have left to run while it exits: a listener that throws would
// keep it from ending.

/** Read before any plugin is loaded. */
const earlier = new Set(process.listeners('exit'));

export function exitProcess(code: number): never {
  for (const listener of process.listeners('exit')) if (!earlier.has(listener)) process.off('exit', listener);
  return process.exit(code);
}
