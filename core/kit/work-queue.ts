// A queue of work, on p-queue, which would run work in the async context of whatever ended before it: here it runs in
// that of whoever queued it, so that its faults, timers and calls count as theirs.
import { AsyncResource } from 'node:async_hooks';
import PQueue, { type QueueAddOptions } from 'p-queue';

type Task<Result> = () => Promise<Result>;

export class WorkQueue extends PQueue {
  override add<Result>(work: Task<Result>, options?: Partial<QueueAddOptions>): Promise<Result> {
    // `AsyncResource.bind` makes a deprecated property on each function, for several times the cost.
    const context = new AsyncResource('work');
    return super.add(() => context.runInAsyncScope(work), options);
  }
}
