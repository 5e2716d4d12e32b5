// Checks whether a running process could be launched again: whether descriptors are left, and one more process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Problem } from '#core';
import { hasFreeDescriptors } from '#kit/descriptors';
import { lacksProcesses, withoutProcesses } from '#kit/process-limit';
import type { LaunchPlan } from '../contract.ts';

/** How many files, directories and pipes are open at once while a service is launched. */
const LAUNCH_DESCRIPTORS = 16;

/** Throws a Problem 503 when so few descriptors are left that a launch could fail. */
export function requireDescriptors(processName: string): void {
  if (hasFreeDescriptors(LAUNCH_DESCRIPTORS)) return;
  throw new Problem(
    503,
    `${processName} goes on running instead of being restarted, because hardly a file descriptor is left for its launch; ` +
      'raise the limit (ulimit -n), or stop it',
  );
}

/**
 * Throws a Problem 503 when the user may have no further process. Any other fault is left to the launch itself. A
 * process is started to find out, because only that covers the limits of users, of containers and of the machine.
 */
export async function requireProcess(processName: string, user: LaunchPlan['user']): Promise<void> {
  try {
    const child = spawn('true', { cwd: '/', env: {}, stdio: 'ignore', ...user });
    if (child.pid === undefined) await once(child, 'spawn');
    else child.once('error', () => undefined);
  } catch (error) {
    if (lacksProcesses(error))
      throw withoutProcesses(`${processName} goes on running instead of being restarted`, error);
  }
}
