// Background work of which one instance runs at a time; a second caller gets the running one's result.
import { runAs } from '../isolate.ts';
import type { JobHandle } from '../plugin.ts';
import type { Scope } from '../scope.ts';

export function createJob(
  scope: Scope,
  kind: string,
  fn: (input: unknown, signal: AbortSignal) => unknown | Promise<unknown>,
): JobHandle {
  let running: Promise<unknown> | undefined;
  const start = async (input: unknown): Promise<unknown> => {
    try {
      return await runAs(scope, async () => fn(input, scope.signal));
    } catch (error) {
      scope.fault('job', new Error(`job ${kind}`, { cause: error }));
      throw error;
    } finally {
      running = undefined;
    }
  };
  return {
    run: input => {
      running ??= start(input);
      return running;
    },
  };
}
