// What is left of a piece of work whose host was killed, or that its program left behind itself: it would go on beside the
// next piece of work on the same files. All that a program starts inherits its mark.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { kernelText } from './kernel-text.ts';

const VARIABLE = 'STACKWARDEN_WORK';
const TERM_MS = 10_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/** Variables for the program. `work` tells this work from any other, also of another host on the machine. */
export function marks(work: string): Record<string, string> {
  return { [VARIABLE]: work };
}

/** Resolves with whether there was something, when nothing of it lives. Throws an Error when it cannot be ended. */
export async function endLeftOver(work: string): Promise<boolean> {
  const mark = `${VARIABLE}=${Buffer.from(work).toString('latin1')}`;
  if (signalAll(mark, 'SIGTERM') === 0) return false;
  if (await isGone(mark, TERM_MS)) return true;
  signalAll(mark, 'SIGKILL');
  if (await isGone(mark, KILL_MS)) return true;
  throw new Error(`what is left of earlier work could not be ended: ${living(mark).join(', ')}`);
}

async function isGone(mark: string, withinMs: number): Promise<boolean> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await delay(POLL_MS))
    if (living(mark).length === 0) return true;
  return false;
}

function signalAll(mark: string, signal: NodeJS.Signals): number {
  const pids = living(mark);
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
  return pids.length;
}

/** The environment of a zombie is empty. */
function living(mark: string): number[] {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  return pids.filter(pid => environmentOf(pid).includes(mark)).map(Number);
}

function environmentOf(pid: string): readonly string[] {
  try {
    return kernelText(`/proc/${pid}/environ`).split('\0');
  } catch {
    // It has ended, or belongs to another user.
    return [];
  }
}
