// Runs a program of a service before its start, as the service itself would run: with its user, variables and directory.
import { Problem } from '#core';
import { runInGroup } from '#kit/group-command';
import type { LaunchPlan } from '../process/contract.ts';

/** Migrations of a large database take their time. */
const LIMIT_MS = 300_000;

/** Throws a Problem 400 with the end of what the program says when it fails, or when the start is cancelled. */
export async function runBefore(
  { env, user, cwd, processName, signal }: LaunchPlan,
  argv: readonly string[],
): Promise<void> {
  try {
    await runInGroup({ argv, cwd, env, user, signal, limitMs: LIMIT_MS });
  } catch (error) {
    throw new Problem(400, `${processName} cannot start: ${(error as Error).message}`, { cause: error });
  }
}
