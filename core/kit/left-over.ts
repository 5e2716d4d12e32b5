// What is left of a piece of work whose host was killed, or that its program left behind itself: it would go on beside
// the next piece of work on the same files. All that a program starts inherits its mark.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { lacksDescriptors, withReserve } from './descriptors.ts';
import { kernelText } from './kernel-text.ts';
import { turnWithTime } from './turns.ts';

/** Of the environment of all that is of some work. */
export const WORK_VARIABLE = 'STACKWARDEN_WORK';
const TERM_MS = 10_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/** Variables for the program. `work` tells this work from any other, also of another host on the machine. */
export function marks(work: string): Record<string, string> {
  return { [WORK_VARIABLE]: work };
}

/** Resolves with whether there was something, when nothing of it lives. Throws an Error when it cannot be ended. */
export async function endLeftOver(work: string): Promise<boolean> {
  const mark = `${WORK_VARIABLE}=${Buffer.from(work).toString('latin1')}`;
  if ((await living(mark, pid => signal(pid, 'SIGTERM'))).length === 0) return false;
  if (await isGone(mark, TERM_MS)) return true;
  await living(mark, pid => signal(pid, 'SIGKILL'));
  if (await isGone(mark, KILL_MS)) return true;
  throw new Error(`what is left of earlier work could not be ended: ${(await living(mark)).join(', ')}`);
}

async function isGone(mark: string, withinMs: number): Promise<boolean> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await delay(POLL_MS))
    if ((await living(mark)).length === 0) return true;
  return false;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/**
 * Reads the environments of all processes but this one in several turns of the event loop. `onFound` is called in the
 * turn in which one was read, because its pid may be another's later.
 */
async function living(mark: string, onFound?: (pid: number) => void): Promise<number[]> {
  const names = withReserve(() => readdirSync('/proc')).filter(name => /^\d+$/.test(name));
  const found: number[] = [];
  for (const pid of names.map(Number)) {
    if (pid === process.pid) continue;
    await turnWithTime();
    if (!isMarked(pid, mark)) continue;
    found.push(pid);
    onFound?.(pid);
  }
  return found;
}

/** The environment of a zombie is empty. Throws what the system says when it cannot be told for want of descriptors. */
function isMarked(pid: number, mark: string): boolean {
  try {
    return `\0${withReserve(() => kernelText(`/proc/${pid}/environ`))}\0`.includes(`\0${mark}\0`);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // It has ended, or belongs to another user.
    return false;
  }
}
