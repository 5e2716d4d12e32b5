// Finds processes that carry a mark in their environment: those that a test started, and their descendants.
import { readdir, readFile } from 'node:fs/promises';

export interface MarkedProcess {
  readonly pid: number;
  readonly command: string;
}

/** `mark` is `NAME=value`. The calling process is left out. */
export async function processesWith(mark: string): Promise<MarkedProcess[]> {
  const pids = (await readdir('/proc')).map(Number).filter(pid => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async pid => {
      // The environment of a zombie or an ended process cannot be read.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (!environment.split('\0').includes(mark)) return [];
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ').trim();
      return [{ pid, command }];
    }),
  );
  return found.flat();
}

/** Sends a signal; a process that has ended meanwhile is no error. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
