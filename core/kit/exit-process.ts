// The end of the process, with this code, whatever plugins have left to run while it exits: a listener that throws
// would keep it from ending, and so would a thread in a call that nobody can interrupt.
import { mayHoldProcess } from './busy-threads.ts';

/** Read before any plugin is loaded. */
const earlier = new Set(process.listeners('exit'));

export function exitProcess(code: number): never {
  for (const listener of process.listeners('exit')) if (!earlier.has(listener)) process.off('exit', listener);
  // What is left to lose is the code: databases are made for the loss of power.
  if (mayHoldProcess()) process.kill(process.pid, 'SIGKILL');
  return process.exit(code);
}
