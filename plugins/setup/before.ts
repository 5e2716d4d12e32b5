// Runs a program of a service before its start, as the service itself would run: with its user, variables and directory.
import { spawn } from 'node:child_process';
import { Problem } from '#core';
import type { LaunchPlan } from '../process/contract.ts';

/** Migrations of a large database take their time. */
const LIMIT_MS = 300_000;
const MAX_CHARACTERS = 8_000;
const MAX_LINES = 3;

/** Throws a Problem 400 with the end of what the program says when it fails, or when the start is cancelled. */
export function runBefore(
  { env, user, cwd, processName, signal }: LaunchPlan,
  [program = '', ...args]: readonly string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    // It leads a group of its own, so that what it starts ends with it.
    const child = spawn(program, args, { ...user, env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let words = '';
    let reason: string | undefined;
    const end = (why: string): void => {
      reason = why;
      if (child.pid !== undefined) endGroup(child.pid);
    };
    const cancel = (): void => end('the start was cancelled');
    const limit = setTimeout(() => end(`it took longer than ${LIMIT_MS / 1_000} s`), LIMIT_MS);
    signal.addEventListener('abort', cancel, { once: true });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(-MAX_CHARACTERS);
      });
    const settle = (failure: string | undefined, cause?: Error): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', cancel);
      const command = [program, ...args].join(' ');
      if (failure === undefined) resolve();
      else reject(new Problem(400, `${processName} cannot start: ${command} failed: ${failure}`, { cause }));
    };
    child.on('error', error => settle('it cannot be run', error));
    child.on('exit', () => endGroup(child.pid as number));
    child.on('close', code => settle(reason ?? (code === 0 ? undefined : lastLines(words) || `it ended with ${code}`)));
  });
}

function lastLines(words: string): string {
  const lines = words.split('\n').map(line => line.trim());
  return lines
    .filter(line => line !== '')
    .slice(-MAX_LINES)
    .join('; ');
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
