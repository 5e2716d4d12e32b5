// Whether one more process may be made, found out by making one that does nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lacksProcesses, withoutProcesses } from '#kit/process-limit';
import type { LaunchPlan } from '../contract.ts';

/**
 * Throws a Problem 503 when that user may have no further one. Any other fault is left to the launch itself. The limits
 * of users, of containers and of the machine are told by the same error, and only a try knows them all.
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
