// A clock that is set ahead over the times of a schedule, as on a machine that learns the time of day late, is no such time.
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import { Schedules } from '../../../plugins/schedules/schedules.ts';
import type { ServedTimes } from '../../../plugins/schedules/served-times.ts';

const processName = 'Job';
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

/** Daily, so many hours before this one. */
function daily(hoursAgo: number): string {
  const time = new Date(now() - hoursAgo * HOUR_MS);
  return `${time.getUTCMinutes()} ${time.getUTCHours()} * * *`;
}

function scheduled(schedule: unknown) {
  const block = { enabled: true, process_name: processName, schedule };
  const done: string[] = [];
  const told: string[] = [];
  let due = (): void => undefined;
  const services = {
    'config.store': { blocks: () => [{ processName, block }], findBlock: () => ({ block }), get: () => 'UTC' },
    'process.supervisor': {
      get: () => ({ processName, status: 'stopped', held: null, stoppedByUser: false }),
      start: async () => void done.push('start'),
    },
  };
  const host = {
    name: 'schedules',
    signal: new AbortController().signal,
    stopping: null,
    log: { info: (line: string) => void told.push(line), warn: (line: string) => void told.push(line) },
    use: (name: keyof typeof services) => services[name],
    find: (name: keyof typeof services) => services[name],
    cron(_cron: string, callback: () => void) {
      due = callback;
      return { stop: () => undefined, next: () => null };
    },
  };
  const served = { of: () => undefined, set: () => undefined, keep: () => undefined };
  new Schedules(host as unknown as Host, served as unknown as ServedTimes).follow();
  return { done, told, due: () => due() };
}

t.test('by days', async t => {
  const { done, told, due } = scheduled(daily(8));
  aheadMs = 3 * DAY_MS;
  due();
  t.same(done, []);
  t.match(told, [/^Job: the clock was set ahead over 3 times of its schedule, the last 20\S+Z$/]);
  due();
  t.same(done, ['start'], 'what comes later comes by the clock');
});

t.test('by days, where what is missed is made up for', async t => {
  const { done, told, due } = scheduled({ cron: daily(8), missed: 'run' });
  aheadMs = 3 * DAY_MS;
  due();
  t.same(done, ['start']);
  t.match(told, [/set ahead over 3 times of its schedule, the last 20\S+Z; it runs once now$/]);
});

t.test('by less than some hours: the time is only late', async t => {
  const { done, told, due } = scheduled(daily(1));
  aheadMs = 2 * HOUR_MS;
  due();
  t.same([done, told], [['start'], []]);
});

t.test('by days, to just after a time', async t => {
  const { done, told, due } = scheduled(daily(1));
  aheadMs = 3 * DAY_MS;
  due();
  t.same([done, told], [['start'], []]);
});

t.test('a machine that has slept runs what it has missed once', async t => {
  const { done, told, due } = scheduled(daily(8));
  due();
  t.same([done, told], [['start'], []]);
});
