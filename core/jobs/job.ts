// Background work of which one instance runs at a time; a second caller gets the running one's result.
import type { JobHandle } from '../contract/job.ts';
import type { Call, Owner } from '../kit/owner.ts';

/** Background work may take long, but not for ever. */
const DEADLINE_MS = 86_400_000;

export function createJob(
  owner: Owner,
  kind: string,
  fn: (input: unknown, signal: AbortSignal) => unknown | Promise<unknown>,
): JobHandle {
  let running: Promise<unknown> | undefined;
  const call: Call = { place: 'job', what: `job ${kind}`, deadlineMs: DEADLINE_MS };
  const start = async (input: unknown): Promise<unknown> => {
    try {
      return await owner.invoke(call, () => fn(input, owner.signal));
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
