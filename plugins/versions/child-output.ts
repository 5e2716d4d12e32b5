// Reads the output of a child process that runs as the user of the services, so that it reads only what that user may.
// It can be abandoned, because a process that touches a dead mount hangs and cannot be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { lacksDescriptors } from '#kit/descriptors';
import { endLeftOver, marks } from '#kit/left-over';
import { lacksProcesses } from '#kit/process-limit';
import { publicEnvironment } from '#kit/public-environment';
import { sendSignal } from '#kit/send-signal';

export type ChildUser = { readonly uid: number; readonly gid: number } | null;

export interface Reading {
  readonly user: ChildUser;
  /** Aborting it ends the child. */
  readonly signal: AbortSignal;
  /** A mark by which processes that the child starts are ended, too, even in other sessions. */
  readonly work?: string;
}

const LIMIT_MS = 5_000;

/**
 * Calls `take` with each part of the output until it returns true, which ends the child. Resolves with whether the
 * program could be started at all. Rejects with an Error when the child does not end within 5 s, when `signal` aborts,
 * or when no descriptor or process is left for it.
 */
export function readChild(
  [program = '', ...args]: readonly string[],
  { user, signal, work }: Reading,
  take: (part: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const env = { ...publicEnvironment(process.env), ...(work !== undefined && marks(work)) };
    // The child leads a group of its own, so that the processes it starts can be ended with it.
    const child: ChildProcess = spawn(program, args, {
      ...user,
      env,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const release = (): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', cancel);
    };
    const end = (): void => {
      release();
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      child.stdout?.destroy();
      child.unref();
    };
    const fail = (why: string): void => {
      end();
      reject(new Error(`${[program, ...args].join(' ')} ${why}`));
    };
    const limit = setTimeout(() => fail(`took longer than ${LIMIT_MS} ms`), LIMIT_MS);
    const cancel = (): void => fail('was ended');
    signal.addEventListener('abort', cancel, { once: true });
    // A child that could not be made, because no descriptors were left, has no output.
    child.stdout?.on('data', (part: Buffer) => {
      if (!take(part)) return;
      end();
      resolve(true);
    });
    child.on('error', error => {
      release();
      // A shortage says nothing about the program.
      if (lacksDescriptors(error) || lacksProcesses(error)) reject(error);
      else resolve(false);
    });
    // Processes that the child started are ended, too, which would otherwise keep its output open.
    child.on('exit', () => {
      sendSignal(-(child.pid as number), 'SIGKILL');
      if (work !== undefined) endLeftOver(work).catch(reject);
    });
    child.on('close', () => {
      release();
      resolve(true);
    });
  });
}
