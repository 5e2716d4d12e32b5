// Random bodies, frames and output, the same at every run: no fault of the host, and no stall.
import t from 'tap';
import { startHost } from '../support/host.ts';
import { fuzzFormats } from './formats.ts';
import { fuzzBodies, fuzzFrames, fuzzLines } from './fuzz.ts';

const SEED = 20_261_122;
/** Far above what is promised, 200 ms, because machines that run tests are slow. */
const STALL_LIMIT_MS = 1_000;

t.test('bodies and frames', { timeout: 240_000 }, async t => {
  const app = await startHost({
    plugins: 'offline',
    config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
  });
  t.teardown(() => app.stop());
  t.same(await fuzzFrames(app, SEED, 50), []);
  const { faults, longestStallMs, requests } = await fuzzBodies(app, SEED, 25);
  t.ok(requests > 100, `${requests} requests`);
  t.same(faults, []);
  t.ok(longestStallMs < STALL_LIMIT_MS, 'the event loop goes on', { longestStallMs });
});

t.test('files of services', async t => {
  t.same(await fuzzFormats(SEED, 150), []);
});

t.test('output of services', async t => {
  t.same(fuzzLines(SEED, 300), []);
});
