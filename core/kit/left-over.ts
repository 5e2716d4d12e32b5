// Ends processes of earlier work that a killed host or a program has left behind: they would go on beside the next work
// on the same files. All that a program starts inherits its mark.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { lacksDescriptors, withReserve } from './descriptors.ts';
import { kernelText } from './kernel-text.ts';
import { turnWithTime } from './turns.ts';

/** The variable that holds the mark, in the environment of every process of some work. */
export const WORK_VARIABLE = 'STACKWARDEN_WORK';
const TERM_MS = 10_000;
const KILL_MS = 5_000;
const POLL_MS = 50;

/**
 * Variables for the program. `work` distinguishes this work from any other, also from that of another host on the
 * machine.
 */
export function marks(work: string): Record<string, string> {
  return { [WORK_VARIABLE]: work };
}

/**
 * Resolves when no process of the work lives, with whether there was one. Throws an Error when one cannot be ended.
 */
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
    // The process has ended meanwhile.
  }
}

/**
 * The pids of all processes with the mark but this one. Their environments are read in several turns of the event loop;
 * `onFound` is called in the turn of its process, because the pid may belong to another one later.
 */
async function living(mark: string, onFound?: (pid: number) => void): Promise<number[]> {
  const found: number[] = [];
  for (const pid of allPids()) {
    if (pid === process.pid) continue;
    await turnWithTime();
    if (!isMarked(pid, mark)) continue;
    found.push(pid);
    onFound?.(pid);
  }
  return found;
}

/** Throws the system's error when no descriptor is left. */
export function allPids(): number[] {
  const names = withReserve(() => readdirSync('/proc'));
  return names.filter(name => /^\d+$/.test(name)).map(Number);
}

/**
 * Whether a process has the mark, which is given as its environment has it, read as Latin-1. The environment of a
 * zombie is empty. Throws the system's error when no descriptor is left to read it.
 */
export function isMarked(pid: number, mark: string): boolean {
  try {
    return `\0${withReserve(() => kernelText(`/proc/${pid}/environ`))}\0`.includes(`\0${mark}\0`);
  } catch (error) {
    if (lacksDescriptors(error)) throw error;
    // The process has ended, or belongs to another user.
    return false;
  }
}
