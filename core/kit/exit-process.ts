// Ends the process with an exit code, whatever plugins have left behind: an `exit` listener that throws would keep it
// from ending, and so would a thread in a call that cannot be interrupted.
import { mayHoldProcess } from './busy-threads.ts';

/** The listeners of the host, read before any plugin is loaded. */
const earlier = new Set(process.listeners('exit'));

export function exitProcess(code: number): never {
  for (const listener of process.listeners('exit')) if (!earlier.has(listener)) process.off('exit', listener);
  // Only the exit code is lost: databases survive this as they survive a loss of power.
  if (mayHoldProcess()) process.kill(process.pid, 'SIGKILL');
  return process.exit(code);
}
