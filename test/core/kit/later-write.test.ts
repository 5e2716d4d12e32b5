// A write that fails is repeated until it succeeds; its failure and its end are reported once each.
import t, { type Test } from 'tap';
import { LaterWrite } from '../../../core/kit/later-write.ts';
import { until } from '../../support/until.ts';

/** A disk that is full until the test says otherwise, and the reports about it. */
function disk(t: Test, retryMs: number) {
  const told: string[] = [];
  const state = { memory: 0, disk: 0, isFull: true, attempts: 0 };
  const writes = new LaterWrite({
    async write() {
      state.attempts += 1;
      const { memory } = state;
      await Promise.resolve();
      if (state.isFull) throw new Error('no space left');
      state.disk = memory;
    },
    failed: error => void told.push((error as Error).message),
    mended: () => void told.push('mended'),
    retryMs,
  });
  t.teardown(() => writes.close());
  return { state, told, writes };
}

t.test('a failed write is repeated without another change', async t => {
  const { state, told, writes } = disk(t, 5);
  for (state.memory = 1; state.memory < 4; state.memory += 1) await writes.save();
  await until(() => state.attempts > 5, { what: 'further attempts' });
  t.same([state.disk, told], [0, ['no space left']]);
  state.isFull = false;
  await until(() => state.disk === 4, { what: 'the write' });
  t.same(told, ['no space left', 'mended']);
  const { attempts } = state;
  await writes.save();
  t.equal(state.attempts, attempts + 1, 'and goes on no longer');
});

t.test('close writes once more, and nothing is written afterwards', async t => {
  const { state, told, writes } = disk(t, 600_000);
  state.memory = 1;
  await writes.save();
  state.isFull = false;
  await writes.close();
  t.same([state.disk, told], [1, ['no space left', 'mended']]);
  state.memory = 2;
  await writes.save();
  t.equal(state.disk, 1);
});

t.test('changes before a write begins share that write', async t => {
  const { state, writes } = disk(t, 600_000);
  state.isFull = false;
  for (state.memory = 1; state.memory < 10; state.memory += 1) void writes.save();
  await writes.save();
  t.same([state.disk, state.attempts], [10, 1]);
});
