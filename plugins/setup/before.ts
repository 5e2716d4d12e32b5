// Runs a program of a service before its start, as the service itself would run: with its user, variables and
// directory.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';
import { runInGroup } from '#kit/group-command';
import { endLeftOver } from '#kit/left-over';
import type { LaunchPlan } from '../process/contract.ts';

/** Migrations of a large database take their time. */
const LIMIT_MS = 300_000;

/**
 * Ends processes of `work` that a killed host, or an earlier program of this kind, has left; resolves with whether
 * there were any. Throws a Problem 409 when they cannot be ended.
 */
export async function endEarlier(processName: string, work: string): Promise<boolean> {
  try {
    return await endLeftOver(work);
  } catch (error) {
    throw new Problem(409, `${processName} cannot start: ${errorText(error)}; end that first`, { cause: error });
  }
}

/** Throws a Problem 400 with the end of what the program says when it fails, or when the start is cancelled. */
export async function runBefore(
  { env, user, cwd, processName, signal }: LaunchPlan,
  argv: readonly string[],
  work: string,
): Promise<void> {
  try {
    await runInGroup({ argv, cwd, env, work, user, signal, limitMs: LIMIT_MS });
  } catch (error) {
    throw new Problem(400, `${processName} cannot start: ${(error as Error).message}`, { cause: error });
  }
}
