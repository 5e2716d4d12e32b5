// Random bodies, frames and output, the same at every run: no fault of the host, and no stall.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { startHost } from '../support/host.ts';
import { fuzzFormats } from './formats.ts';
import { fuzzBodies, fuzzFrames, fuzzLines } from './fuzz.ts';
import { ranMs, StallWatch } from './stall-watch.ts';

const SEED = 20_261_122;
/** Above what is promised, 200 ms, because machines that run tests are slow. */
const STALL_LIMIT_MS = 500;

t.test('bodies and frames', { timeout: 240_000 }, async t => {
  const app = await startHost({
    plugins: 'offline',
    config: { sleeper: { enabled: false, process_name: 'Sleeper', command: ['sleep', '600'] } },
  });
  t.teardown(() => app.stop());
  for (const { faults, stall, sent } of [await fuzzFrames(app, SEED, 50), await fuzzBodies(app, SEED, 25)]) {
    t.ok(sent > 100, `${sent} were sent`);
    t.same(faults, []);
    t.ok(stall.busyMs < STALL_LIMIT_MS, 'the event loop goes on', { stall });
  }
});

t.test('files of services', { timeout: 120_000 }, async t => {
  t.same(await fuzzFormats(SEED, 150, STALL_LIMIT_MS), []);
});

t.test('output of services', async t => {
  t.same(fuzzLines(SEED, 300, STALL_LIMIT_MS), []);
});

t.test('a standstill is found, whoever else has the processor', async t => {
  const watch = new StallWatch();
  const spin = (ms: number): void => {
    const endMs = ranMs() + ms;
    while (ranMs() < endMs);
  };
  spin(60);
  await delay(1);
  watch.exempt(() => spin(300));
  const { busyMs } = await watch.end();
  t.ok(busyMs >= 50 && busyMs < 300, 'what is exempt does not count', { busyMs });
});
