// A clock that is set ahead over times of a schedule, as on a machine that learns the time late, does not trigger them.
import t from 'tap';
import { scheduled } from '../../support/scheduled.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const now = Date.now;
let aheadMs = 0;
t.before(() => {
  Date.now = () => now() + aheadMs;
});
t.teardown(() => {
  Date.now = now;
});
t.beforeEach(() => {
  aheadMs = 0;
});

/** A daily schedule, so many hours ago. */
function daily(hoursAgo: number): string {
  const time = new Date(now() - hoursAgo * HOUR_MS);
  return `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
}

t.test('a clock that is set ahead by days triggers nothing', async t => {
  const { done, told, due } = scheduled(t, {}, daily(8));
  aheadMs = 3 * DAY_MS;
  due();
  t.same(done, []);
  t.match(told, [/^Job: the clock was set ahead over 3 times of its schedule, the last 20\S+Z$/]);
  due();
  t.same(done, ['start'], 'what comes later comes by the clock');
});

t.test('a clock that is set ahead by days runs a missed time once if wanted', async t => {
  const { done, told, due } = scheduled(t, {}, { cron: daily(8), missed: 'run' });
  aheadMs = 3 * DAY_MS;
  due();
  t.same(done, ['start']);
  t.match(told, [/set ahead over 3 times of its schedule, the last 20\S+Z; it runs once now$/]);
});

t.test('a clock that is set ahead by less than some hours runs a late time', async t => {
  const { done, told, due } = scheduled(t, {}, daily(1));
  aheadMs = 2 * HOUR_MS;
  due();
  t.same([done, told], [['start'], []]);
});

t.test('a clock that is set ahead to just after a time runs that time', async t => {
  const { done, told, due } = scheduled(t, {}, daily(1));
  aheadMs = 3 * DAY_MS;
  due();
  t.same([done, told], [['start'], []]);
});

t.test('a machine that has slept runs a missed time once', async t => {
  const { done, told, due } = scheduled(t, {}, daily(8));
  due();
  t.same([done, told], [['start'], []]);
});
