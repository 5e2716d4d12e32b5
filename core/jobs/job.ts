// Background work of which one instance runs at a time; a second caller gets the running one's result.
import type { JobHandle } from '../contract/job.ts';
import type { Owner } from './owner.ts';

export function createJob(
  owner: Owner,
  kind: string,
  fn: (input: unknown, signal: AbortSignal) => unknown | Promise<unknown>,
): JobHandle {
  let running: Promise<unknown> | undefined;
  const start = async (input: unknown): Promise<unknown> => {
    try {
      return await owner.run(async () => fn(input, owner.signal));
    } catch (error) {
      owner.fault('job', new Error(`job ${kind}`, { cause: error }));
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
