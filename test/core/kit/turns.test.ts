// Work for many at one time, over turns of the event loop.
import t, { type Test } from 'tap';
import { ownTurns } from '../../../core/kit/turns.ts';

const COUNT = 12;

/** Counts the turns of the event loop. */
function countTurns(t: Test): () => number {
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  t.teardown(() => clearImmediate(next));
  return () => turn;
}

t.test('those who come together are not let on together, though none has begun when the next asks', async t => {
  const turn = countTurns(t);
  const turnWithTime = ownTurns();
  const seen = await Promise.all(
    Array.from({ length: COUNT }, async () => {
      await turnWithTime();
      // What it waits for is done in the same turn.
      for (let step = 0; step < 10 * COUNT; step += 1) await undefined;
      return turn();
    }),
  );
  t.ok(new Set(seen).size >= COUNT / 3, seen.join(' '));
});

t.test('somebody alone with little work goes on in the same turn', async t => {
  const turn = countTurns(t);
  const turnWithTime = ownTurns();
  await turnWithTime();
  const before = turn();
  for (let step = 0; step < COUNT; step += 1) await turnWithTime();
  // A machine without time may need a second one.
  t.ok(turn() - before < COUNT / 3);
});
