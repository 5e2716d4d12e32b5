// Long lists are visited and streamed while the event loop goes on.
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { joinedInSlices } from '../../../plugins/request-sync/slices.ts';

t.test('a stream of many pieces lets other work in between', async t => {
  const total = 2_000;
  let made = 0;
  function* pieces(): Generator<string> {
    for (; made < total; made += 1) {
      // A piece takes its time.
      for (const endMs = performance.now() + 0.1; performance.now() < endMs; );
      yield `${made},`;
    }
  }
  let madeAtTurn: number | undefined;
  setImmediate(() => {
    madeAtTurn = made;
  });
  const whole = await text(Readable.from(joinedInSlices(pieces())));
  t.equal(whole, Array.from({ length: total }, (_, index) => `${index},`).join(''));
  t.ok(madeAtTurn !== undefined && madeAtTurn < total, `other work came after ${madeAtTurn} pieces`);
  t.equal(await text(Readable.from(joinedInSlices([]))), '');
});
