// Processes that carry a mark in their environment: whatever a test started, and whatever that started in turn.
import { readdir, readFile } from 'node:fs/promises';

export interface MarkedProcess {
  readonly pid: number;
  readonly command: string;
}

/** `mark` as `NAME=value`; the asking process is never among them. */
export async function processesWith(mark: string): Promise<MarkedProcess[]> {
  const pids = (await readdir('/proc')).map(Number).filter(pid => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async pid => {
      // Of a zombie, and of what ended meanwhile, there is nothing to read.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (!environment.split('\0').includes(mark)) return [];
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').join(' ').trim();
      return [{ pid, command }];
    }),
  );
  return found.flat();
}

/** What has ended meanwhile is no error. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
