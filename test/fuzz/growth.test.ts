// What bodies, frames, files and output take is given back: the heap stays as large, round after round.
import t from 'tap';
import { startHost } from '../support/host.ts';
import { fuzzFormats } from './formats.ts';
import { fuzzBodies, fuzzFrames, fuzzLines } from './fuzz.ts';
import { heapBytes } from './heap.ts';

const SEED = 20_261_122;
const ROUNDS = 6;
const NO_LIMIT = Number.POSITIVE_INFINITY;
/** From one round to another. What is kept of each body would be more. */
const GROWTH_LIMIT = 1.05;

t.test('memory does not grow', { timeout: 240_000 }, async t => {
  const app = await startHost({ plugins: ['config', 'config-files', 'process', 'logs', 'docs'] });
  t.teardown(() => app.stop());
  const after: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await fuzzBodies(app, SEED + round, 40);
    await fuzzFrames(app, SEED + round, 100);
    await fuzzFormats(SEED + round, 20, NO_LIMIT);
    fuzzLines(SEED + round, 20, NO_LIMIT);
    after.push(heapBytes());
  }
  // The first rounds compile code and fill what is kept.
  const [before = 0, last = 0] = [after.at(ROUNDS / 2 - 1), after.at(-1)];
  t.ok(last / before < GROWTH_LIMIT, 'what a round takes is given back', { after });
});
