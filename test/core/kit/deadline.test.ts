// Work that is awaited for a limited time: what is given when it is done, fails, or is late.
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { doneOrLate } from '../../../core/kit/deadline.ts';
import { followTimers } from '../../support/living-timers.ts';

const LIMIT_MS = 600_000;

t.test('work that is done in time gives its result, or its error, and keeps no timer', async t => {
  const timers = followTimers(t);
  t.equal(await doneOrLate(nextTurn('done'), LIMIT_MS), 'done');
  await t.rejects(doneOrLate(Promise.reject(new Error('it failed')), LIMIT_MS), { message: 'it failed' });
  await nextTurn();
  t.equal(timers(LIMIT_MS), 0);
});

t.test('work that is late goes on, and its later error is no fault', async t => {
  let fail = (_error: Error): void => undefined;
  const work = new Promise<string>((_resolve, reject) => {
    fail = reject;
  });
  const given = doneOrLate(work, 1);
  // Its timer alone does not keep a process alive.
  const alive = setTimeout(() => undefined, LIMIT_MS);
  t.equal(await given, undefined);
  clearTimeout(alive);
  fail(new Error('too late'));
  await nextTurn();
});
