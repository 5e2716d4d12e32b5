// What is left of a repair whose host was killed, or that the tool left behind itself: it would go on to change the database
// beside the server, or beside the next repair.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { kernelText } from '#kit/kernel-text';

const VARIABLE = 'STACKWARDEN_DATABASE_REPAIR';
const TERM_MS = 10_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/** What everything that the tool starts inherits. */
export function marks(repaired: string): Record<string, string> {
  return { [VARIABLE]: repaired };
}

/** Resolves with whether there was something, when nothing of it lives. Throws an Error when it cannot be ended. */
export async function endLeftOver(repaired: string): Promise<boolean> {
  const mark = `${VARIABLE}=${Buffer.from(repaired).toString('latin1')}`;
  if (signalAll(mark, 'SIGTERM') === 0) return false;
  if (await isGone(mark, TERM_MS)) return true;
  signalAll(mark, 'SIGKILL');
  if (await isGone(mark, KILL_MS)) return true;
  throw new Error(`what is left of an earlier repair could not be ended: ${living(mark).join(', ')}`);
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
