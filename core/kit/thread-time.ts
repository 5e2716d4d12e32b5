// Processor time of a thread of this process: a limit of it does not count the time that other work of the machine
// takes.
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/**
 * The kernel's number of the thread that asks; null where the system does not tell it. That of the main thread is the
 * pid.
 */
export function ownThread(): number | null {
  try {
    return Number(path.basename(readlinkSync('/proc/thread-self')));
  } catch {
    return null;
  }
}

/** How long the thread has computed, in milliseconds; null where the system does not tell it. */
export function threadTimeMs(thread: number): number | null {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return null;
  }
}
