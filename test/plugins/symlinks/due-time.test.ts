// When scheduled snapshots are due, whatever the clock does.
import fc from 'fast-check';
import t from 'tap';
import { dueAfter, lastDueUpTo } from '../../../plugins/symlinks/schedule/due-time.ts';
import { ManifestName, slugOf } from '../../../plugins/symlinks/schedule/manifest-name.ts';
import { rounds } from '../../support/rounds.ts';

const HOUR_MS = 3_600_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu'];

t.test('where clocks skip the start time it is the first moment after, and where they repeat it, once', async t => {
  const rhythm = { intervalHours: 24, startTime: '02:30', timeZone: 'Europe/Berlin' };
  const from = (moment: string, count: number) => {
    const found: string[] = [];
    for (let due = dueAfter(null, new Date(moment), rhythm); found.length < count; due = dueAfter(due, due, rhythm))
      found.push(due.toISOString().slice(5, 16));
    return found;
  };
  t.same(from('2025-03-28T12:00:00Z', 3), ['03-29T01:30', '03-30T01:00', '03-31T00:30']);
  t.same(from('2025-10-24T12:00:00Z', 3), ['10-25T00:30', '10-26T00:30', '10-27T01:30']);
});

t.test('whole days stay at the start time, and many missed runs are one', async t => {
  const two = (value: number) => String(value).padStart(2, '0');
  const rhythms = fc.record({
    intervalHours: fc.oneof(
      fc.integer({ min: 1, max: 365 }).map(days => 24 * days),
      fc.double({ min: 1, max: 400, noNaN: true }),
    ),
    // Not in the hours in which daylight saving changes.
    startTime: fc
      .tuple(fc.integer({ min: 4, max: 22 }), fc.nat(59))
      .map(([hour, minute]) => `${two(hour)}:${two(minute)}`),
    timeZone: fc.constantFrom(...ZONES),
  });
  const moments = fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2035, 0) }).map(ms => new Date(ms));
  fc.assert(
    fc.property(rhythms, moments, fc.integer({ min: 0, max: 24 * 800 }), (rhythm, begin, hoursLater) => {
      const { intervalHours, startTime, timeZone } = rhythm;
      const wallClock = (moment: Date) =>
        moment.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
      const first = dueAfter(null, begin, rhythm);
      t.ok(first > begin && first.getTime() - begin.getTime() <= 50 * HOUR_MS);
      t.equal(wallClock(first), startTime);
      const second = dueAfter(first, begin, rhythm);
      const hours = (second.getTime() - first.getTime()) / HOUR_MS;
      if (intervalHours % 24 === 0) t.equal(wallClock(second), startTime);
      else t.ok(Math.abs(hours - intervalHours) < 0.001);
      const later = new Date(first.getTime() + hoursLater * HOUR_MS);
      const last = lastDueUpTo(first, later, rhythm);
      t.ok(last >= first && last <= later);
      t.ok(dueAfter(last, later, rhythm) > later);
    }),
    { numRuns: rounds(100) },
  );
});

t.test('names of manifests are parsed strictly', async t => {
  const name = new ManifestName({ template: '/c/{process_slug}-{date}_{time}.json', processName: ' My/Show 2 ' });
  t.equal(name.directory, '/c');
  t.equal(name.pattern, '/c/my-show-2-*_*.json');
  const made = name.at(new Date('2025-01-31T04:05:06Z'));
  t.equal(made, '/c/my-show-2-20250131_040506.json');
  t.equal(name.timeIn('my-show-2-20250131_040506.json'), '20250131T040506Z');
  for (const other of ['my-show-2-20250131_04050.json', 'my-show-2-20250131_040506.jsonx', 'my-show-2-x_040506.json'])
    t.notOk(name.makes(other), other);
  t.equal(slugOf('***'), 'service');
  t.throws(() => new ManifestName({ template: '/c/{date}/x.json', processName: 'A' }), {
    message: /in the name of the file/,
  });
  t.throws(() => new ManifestName({ template: '/c/x.txt', processName: 'A' }), { message: /end in .json/ });
});
