// The timer of postponed starts runs only while there are any, so that an idle host sleeps.
import t from 'tap';
import { Problem } from '../../../core/contract/problem.ts';
import { PutOffStarts } from '../../../plugins/process/boot/put-off-starts.ts';
import type { SupervisedProcess } from '../../../plugins/process/supervise/supervised-process.ts';

t.test('the timer runs from the first postponed start to the last', async t => {
  let timers = 0;
  const host = {
    paced: (ms: number) => ms,
    every: () => {
      timers += 1;
      return () => {
        timers -= 1;
      };
    },
  };
  const starts = new PutOffStarts(host, () => undefined);
  const [one, other] = [{}, {}] as [SupervisedProcess, SupervisedProcess];
  const full = new Problem(507, 'The disk is full');
  t.equal(timers, 0);
  t.equal(starts.add(one, full), 'new');
  t.equal(starts.add(one, full), 'again');
  t.equal(starts.add(other, full), 'new');
  t.equal(timers, 1);
  starts.forget(one);
  t.equal(timers, 1);
  t.equal(starts.add(other, new Error('what no later attempt mends')), 'none');
  t.equal(timers, 0);
  t.equal(starts.add(one, full), 'new', 'and again');
  t.equal(timers, 1);
});
