// `env_copy`: copies a file, if it exists, to where the service expects it, before each launch.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Problem } from '#core';
import { requireAnswer } from '#kit/answering';
import type { FileOwner } from '#kit/guarded-directory';
import { publicEnvironment } from '#kit/public-environment';
import type { LaunchPlan } from '../contract.ts';

const run = promisify(execFile);
const LIMIT_MS = 10_000;

/**
 * Copies as the user of the services, so that nothing is read or written that they could not read or write themselves,
 * wherever links lead. `user` is null where the host cannot act as another. Throws a Problem 500 when the copy fails,
 * and 503 for a mount that does not answer.
 */
export async function copyEnvironmentFile(
  { processName, block, signal }: LaunchPlan,
  user: FileOwner | null,
): Promise<void> {
  const { source, destination } = (block.env_copy ?? {}) as { source?: string; destination?: string };
  if (source === undefined || destination === undefined) return;
  await requireAnswer([source, destination].map(place => path.resolve('/', place)));
  // The environment of a process is shown to everybody of its user.
  const env = publicEnvironment(process.env);
  const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL', signal, cwd: '/', env } as const;
  const exists = await run('test', ['-f', source], limits).then(
    () => true,
    () => false,
  );
  if (!exists) return;
  try {
    await run('install', ['-T', '-m', '0640', '--', source, destination], { ...limits, ...user });
  } catch (error) {
    signal.throwIfAborted();
    const who = user === null ? 'the user of Stackwarden' : `user ${user.uid}, who runs the services,`;
    throw new Problem(
      500,
      `${processName} was not started: ${source} could not be copied to ${destination}; let ${who} read the one and ` +
        'write the other',
      { cause: error },
    );
  }
}
