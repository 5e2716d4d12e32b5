// The end of the process, with this code, whatever plugins have left to run while it exits: a listener that throws would
// keep it from ending.
export function exitProcess(code: number): never {
  process.removeAllListeners('exit');
  return process.exit(code);
}
