// Sends a signal to a process, or with a negative pid to a group, that may have ended meanwhile.

/** Does nothing when the process or group is gone. Throws the system's error when the host may not signal it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
