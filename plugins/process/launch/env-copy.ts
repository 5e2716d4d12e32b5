// `env_copy`: copies a file, if it exists, to where the service expects it, before each launch.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Problem } from '#core';
import type { LaunchPlan } from '../contract.ts';

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/**
 * Copies in child processes, which are abandoned when a dead mount blocks them. Throws a Problem 500 when the copy
 * fails.
 */
export async function copyEnvironmentFile({ processName, block, user, signal }: LaunchPlan): Promise<void> {
  const { source, destination } = (block.env_copy ?? {}) as { source?: string; destination?: string };
  if (source === undefined || destination === undefined) return;
  const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL', signal } as const;
  const exists = await run('test', ['-f', source], limits).then(
    () => true,
    () => false,
  );
  if (!exists) return;
  const owner = user === null ? [] : ['-o', String(user.uid), '-g', String(user.gid)];
  try {
    await run('install', ['-m', '0640', ...owner, '--', source, destination], limits);
  } catch (error) {
    signal.throwIfAborted();
    throw new Problem(500, `${processName} was not started: ${source} could not be copied to ${destination}`, {
      cause: error,
    });
  }
}
