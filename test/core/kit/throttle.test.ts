// Work that is called more often than it may run.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Throttle } from '../../../core/kit/throttle.ts';

/** The pauses between runs of work that takes so long, while it is called all the time. */
async function pauses(tookMs: number, bounds: readonly [pauseMs: number, leastMs?: number]): Promise<number[]> {
  const ranMs: number[] = [];
  const throttle = new Throttle(
    () => {
      ranMs.push(performance.now());
      while (performance.now() < (ranMs.at(-1) ?? 0) + tookMs);
    },
    ...bounds,
  );
  while (ranMs.length < 6) {
    throttle.call();
    await delay(1);
  }
  throttle.cancel();
  return ranMs.slice(1).map((ms, index) => ms - (ranMs[index] ?? 0));
}

/**
 * Timers begin with the time at which the loop last looked at the clock, so that they may be early by what a turn took.
 */
const EARLY = 0.5;

t.test('a pause is as long as asked for', async t => {
  for (const ms of await pauses(0, [100])) t.ok(ms > 100 * EARLY, `${ms}`);
  for (const ms of await pauses(0, [1_000, 60])) t.ok(ms > 60 * EARLY, `${ms}`);
});

t.test('work that takes long has the whole pause, work that takes little has less of it', async t => {
  t.ok(Math.min(...(await pauses(15, [100, 5]))) > 100 * EARLY);
  t.ok(Math.min(...(await pauses(0, [10_000, 5]))) < 5_000);
});

t.test('what was called but has not run can be taken back', async t => {
  let runs = 0;
  const throttle = new Throttle(() => {
    runs += 1;
  }, 1);
  throttle.call();
  throttle.cancel();
  await delay(10);
  t.equal(runs, 0);
});
