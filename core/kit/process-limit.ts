// Tells whether an operation failed only because the limit of processes and threads is reached.
import { Problem } from '../contract/problem.ts';

const CODES = ['EAGAIN', 'ERR_WORKER_INIT_FAILED'];

/** For the error of a spawn, or of the start of a thread. */
export function lacksProcesses(error: unknown): boolean {
  return CODES.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/**
 * The Problem for an operation that needs another process or thread. `what` is the beginning of a sentence, as `Name
 * cannot start`.
 */
export function withoutProcesses(what: string, cause: unknown): Problem {
  const remedy = 'raise that limit (ulimit -u, or the pids of the container), or end some';
  return new Problem(503, `${what}, because the limit of processes and threads is reached; ${remedy}`, { cause });
}
