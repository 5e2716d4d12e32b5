// The clock by which old things are removed, when the system clock is set, is set back, stops, or the machine sleeps.
import t from 'tap';
import { provenNowMs } from '../../../core/kit/proven-time.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The time between two readings of a test on a busy machine. */
const NEAR_MS = 60_000;
const { now } = Date;
const monotonic = performance.now.bind(performance);

function at({ aheadMs = 0, laterMs = 0 }): number {
  Date.now = () => now() + aheadMs + laterMs;
  performance.now = () => monotonic() + laterMs;
  return provenNowMs() - now();
}

t.test('a clock that is set ahead is believed after a day', t => {
  t.teardown(() => {
    Date.now = now;
    performance.now = monotonic;
  });
  const isNear = (found: number, wanted: number, name: string) =>
    t.ok(Math.abs(found - wanted) < NEAR_MS, `${name}: ${found - wanted}`);
  const ahead = { aheadMs: 30 * DAY_MS };
  isNear(at({}), 0, 'as it is');
  isNear(at(ahead), 0, 'it is set');
  isNear(at({ ...ahead, laterMs: 23 * HOUR_MS }), 23 * HOUR_MS, 'less than a day later');
  isNear(at({}), 0, 'it is mended');
  isNear(at({ aheadMs: -30 * DAY_MS }), -30 * DAY_MS, 'what is told is never ahead of the clock');
  isNear(at({}), 0, 'one that was behind is not doubted when it comes back');
  isNear(at(ahead), 0, 'it is set again');
  isNear(at({ ...ahead, laterMs: 25 * HOUR_MS }), ahead.aheadMs + 25 * HOUR_MS, 'and stays so');
  isNear(at({}), 0, 'then it is set back');
  isNear(at({ laterMs: 25 * HOUR_MS }), 25 * HOUR_MS, 'for good');
  isNear(at(ahead), 0, 'and ahead once more');
  t.end();
});
