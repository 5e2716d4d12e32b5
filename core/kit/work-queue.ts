// A queue whose work runs in the async context of the code that queued it, so that its faults, timers and calls count
// as that code's. p-queue itself would run it in the context of the work that ended before.
import { AsyncResource } from 'node:async_hooks';
import PQueue, { type QueueAddOptions } from 'p-queue';

type Task<Result> = () => Promise<Result>;

export class WorkQueue extends PQueue {
  override add<Result>(work: Task<Result>, options?: Partial<QueueAddOptions>): Promise<Result> {
    // `AsyncResource.bind` costs several times as much, because it defines a deprecated property on each function.
    const context = new AsyncResource('work');
    return super.add(() => context.runInAsyncScope(work), options);
  }
}
