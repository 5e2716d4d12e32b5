// Work that is requested more often than it may run.
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Throttle } from '../../../core/kit/throttle.ts';
import { until } from '../../support/until.ts';

/** The pauses between runs of work that takes so long and is requested all the time. */
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
 * Timers start from the time at which the event loop last read the clock, so they may be early by the length of a turn.
 */
const EARLY = 0.5;

t.test('a pause is as long as asked for', async t => {
  for (const ms of await pauses(0, [100])) t.ok(ms > 100 * EARLY, `${ms}`);
  for (const ms of await pauses(0, [1_000, 60])) t.ok(ms > 60 * EARLY, `${ms}`);
});

t.test('long work is followed by the whole pause, short work by less', async t => {
  t.ok(Math.min(...(await pauses(15, [100, 5]))) > 100 * EARLY);
  t.ok(Math.min(...(await pauses(0, [10_000, 5]))) < 5_000);
});

t.test('work that was requested but has not run can be cancelled', async t => {
  let runs = 0;
  const throttle = new Throttle(() => {
    runs += 1;
  }, 1);
  throttle.call();
  throttle.cancel();
  let isLater = false;
  new Throttle(() => {
    isLater = true;
  }, 1).call();
  await until(() => isLater, { what: 'a run that was requested later' });
  t.equal(runs, 0);
});
