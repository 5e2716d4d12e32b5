// A signal to a process, or with a negative pid to a group, that may have ended meanwhile.

/** Does nothing when there is none. Throws the error of the system when the host may not. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
