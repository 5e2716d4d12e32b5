// Reads what a child prints that runs as the user of the services: what it reads for us, that user may read. It can be
// abandoned, because a process that touches a dead mount hangs unkillably.
import { spawn } from 'node:child_process';
import { endLeftOver, marks } from '#kit/left-over';
import { publicEnvironment } from '#kit/public-environment';
import { sendSignal } from '#kit/send-signal';

export type ChildUser = { readonly uid: number; readonly gid: number } | null;

export interface Reading {
  readonly user: ChildUser;
  /** Ends the child. */
  readonly signal: AbortSignal;
  /** Of a program that may start others: by this mark they are ended too, whatever sessions they have made. */
  readonly work?: string;
}

const LIMIT_MS = 5_000;

/**
 * Calls `take` with each part of the output until it returns true, which ends the child. Resolves with whether the
 * child ran at all; what it found is with `take`. Throws an Error when it does not end within 5 s, or is ended before.
 */
export function readChild(
  [program = '', ...args]: readonly string[],
  { user, signal, work }: Reading,
  take: (part: Buffer) => boolean,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const env = { ...publicEnvironment(process.env), ...(work !== undefined && marks(work)) };
    // It leads a group of its own, so that what it starts ends with it.
    const child = spawn(program, args, { ...user, env, cwd: '/', detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    const release = (): void => {
      clearTimeout(limit);
      signal.removeEventListener('abort', cancel);
    };
    const end = (): void => {
      release();
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      child.stdout.destroy();
      child.unref();
    };
    const fail = (why: string): void => {
      end();
      reject(new Error(`${[program, ...args].join(' ')} ${why}`));
    };
    const limit = setTimeout(() => fail(`took longer than ${LIMIT_MS} ms`), LIMIT_MS);
    const cancel = (): void => fail('was ended');
    signal.addEventListener('abort', cancel, { once: true });
    child.stdout.on('data', (part: Buffer) => {
      if (!take(part)) return;
      end();
      resolve(true);
    });
    child.on('error', () => {
      release();
      resolve(false);
    });
    // What it started ends with it, and with that its output.
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
