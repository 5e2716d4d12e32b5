// What bodies and frames take is given back: the heap stays as large, round after round.
import t from 'tap';
import { startHost } from '../support/host.ts';
import { fuzzBodies, fuzzFrames } from './fuzz.ts';
import { heapBytes } from './heap.ts';

const SEED = 20_261_122;
const ROUNDS = 6;
/** From one round to another. What is kept of each body would be more. */
const GROWTH_LIMIT = 1.05;

t.test('memory does not grow', { timeout: 240_000 }, async t => {
  const app = await startHost({ plugins: ['config', 'config-files', 'process', 'logs', 'docs'] });
  t.teardown(() => app.stop());
  const after: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await fuzzBodies(app, SEED + round, 40);
    await fuzzFrames(app, SEED + round, 100);
    after.push(heapBytes());
  }
  // The first rounds compile code and fill what is kept.
  const [before = 0, last = 0] = [after.at(ROUNDS / 2 - 1), after.at(-1)];
  t.ok(last / before < GROWTH_LIMIT, 'what a round takes is given back', { after });
});
