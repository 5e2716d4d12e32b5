// Work for many callers at once is spread over turns of the event loop.
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

t.test('callers that ask together go on in different turns', async t => {
  const turn = countTurns(t);
  const turnWithTime = ownTurns();
  const seen = await Promise.all(
    Array.from({ length: COUNT }, async () => {
      await turnWithTime();
      // Awaits of settled values stay within the same turn.
      for (let step = 0; step < 10 * COUNT; step += 1) await undefined;
      return turn();
    }),
  );
  t.ok(new Set(seen).size >= COUNT / 3, seen.join(' '));
});

t.test('a single caller with little work goes on in the same turn', async t => {
  const turn = countTurns(t);
  const turnWithTime = ownTurns();
  await turnWithTime();
  const before = turn();
  for (let step = 0; step < COUNT; step += 1) await turnWithTime();
  // A slow machine may need a second turn.
  t.ok(turn() - before < COUNT / 3);
});
