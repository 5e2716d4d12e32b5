// When a database is repaired, given the times at which the server was in use.
import fc from 'fast-check';
import t from 'tap';
import { RepairSchedule } from '../../../plugins/database-repair-plex/schedule.ts';
import { settingsOf } from '../../../plugins/database-repair-plex/settings.ts';

const MIN = 60_000;
const settings = (more: object = {}) => settingsOf({ dbrepair: { enabled: true, ...more } });

t.test('once in each interval, and after growing pauses while the server is in use', async t => {
  const schedule = new RepairSchedule();
  const usual = settings();
  t.ok(schedule.isDue('A', usual, [], 1), 'the first time at once');
  t.notOk(schedule.isDue('A', usual, [1], 10_079 * MIN));
  t.ok(schedule.isDue('A', usual, [1], 10_080 * MIN + 1));
  const asked: number[] = [];
  for (let minute = 0; minute < 200; minute += 1) {
    if (!schedule.isDue('B', usual, [], minute * MIN)) continue;
    asked.push(minute);
    schedule.putOff('B', usual, minute * MIN);
  }
  t.same(asked, [0, 5, 15, 35, 75, 135, 195], 'twice as long each time, an hour at most');
  t.notOk(schedule.isDue('C', settings({ enabled: false }), [], 1));
});

t.test('a server that is never idle is left alone until the next interval', async t => {
  const schedule = new RepairSchedule();
  const limited = settings({ max_wait_minutes: 10 });
  t.ok(schedule.putOff('A', limited, 0));
  t.notOk(schedule.putOff('A', limited, 10 * MIN), 'it was waited for long enough');
  t.notOk(schedule.isDue('A', limited, [], 10_000 * MIN));
  t.ok(schedule.isDue('A', limited, [], 10_090 * MIN));
});

t.test('times from a clock that was ahead postpone nothing', async t => {
  const schedule = new RepairSchedule();
  const usual = settings({ max_wait_minutes: 10 });
  const [ahead, now] = [10_000_000 * MIN, 1_000_000 * MIN];
  t.ok(schedule.isDue('A', usual, [ahead], now));
  t.notOk(schedule.isDue('A', usual, [ahead, now - 10_000 * MIN], now), 'the run before it counts');
  t.notOk(schedule.isDue('A', usual, [now + MIN], now), 'a clock that is set by a minute has repeated nothing');
  schedule.putOff('B', usual, ahead);
  t.ok(schedule.isDue('B', usual, [], now), 'a pause that was counted from there');
  schedule.putOff('C', usual, ahead);
  t.notOk(schedule.putOff('C', usual, ahead + 10 * MIN));
  t.ok(schedule.isDue('C', usual, [], now), 'a server that was given up there');
});

t.test('pauses never shrink, and end at the longest one', async t => {
  const law = fc.property(
    fc.double({ min: 0.1, max: 500, noNaN: true }),
    fc.double({ min: 1, max: 10, noNaN: true }),
    fc.double({ min: 0.1, max: 500, noNaN: true }),
    (first, factor, longest) => {
      const schedule = new RepairSchedule();
      const own = settings({ idle_check_minutes: first, backoff_multiplier: factor, max_backoff_minutes: longest });
      let now = 0;
      let before = 0;
      for (let look = 0; look < 8; look += 1) {
        schedule.putOff('A', own, now);
        const pause = Math.min(first * factor ** look, Math.max(longest, first)) * MIN;
        if (schedule.isDue('A', own, [], now + pause * 0.999) || !schedule.isDue('A', own, [], now + pause * 1.001))
          return false;
        if (pause < before) return false;
        before = pause;
        now += pause;
      }
      return true;
    },
  );
  t.doesNotThrow(() => fc.assert(law), 'for every setting');
});

t.test('the command and variables of the tool follow the settings', async t => {
  t.same(settings({ install_dir: '/opt/r', sqlite_path: '/p/Plex SQLite', databases_path: '/d' }).command, [
    '/opt/r/DBRepair.sh',
    '--sqlite',
    '/p/Plex SQLite',
    '--databases',
    '/d',
    'auto',
  ]);
  t.same(settings({ install_dir: '/opt/r', required_args: ['--x'], script_args: ['stop', 'auto'] }).command, [
    '/opt/r/DBRepair.sh',
    '--x',
    'stop',
    'auto',
  ]);
  t.same(settings({ command: ['/bin/own', 'a'] }).command, ['/bin/own', 'a']);
  t.match(settingsOf({ dbrepair: { enabled: 'perhaps', interval_minutes: -1 } }), {
    enabled: false,
    intervalMs: 10_080 * MIN,
  });
  t.match(settingsOf({}), { enabled: false });
});
