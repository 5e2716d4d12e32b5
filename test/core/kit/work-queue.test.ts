// Queued work runs in the async context of the caller that queued it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { WorkQueue } from '../../../core/kit/work-queue.ts';

t.test('work that waited runs in the context of its caller, not of the work before it', async t => {
  const owner = new AsyncLocalStorage<string>();
  const queue = new WorkQueue({ concurrency: 1 });
  const work = async () => {
    await nextTurn();
    return owner.getStore();
  };
  const names = ['first', 'second', undefined, 'fourth'];
  const queued = names.map(name => (name === undefined ? queue.add(work) : owner.run(name, () => queue.add(work))));
  t.same(await Promise.all(queued), names);
  t.same(await owner.run('many', () => queue.addAll([work, work])), ['many', 'many']);
});
