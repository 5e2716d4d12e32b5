// When updates are checked for, whatever the clock does, and which versions are newer.
import fc from 'fast-check';
import t from 'tap';
import { dayOf, dueAfter, nextStartDay } from '../../../plugins/updates/rhythm.ts';
import { isNews, isSameVersion } from '../../../plugins/updates/version-order.ts';
import { rounds } from '../../support/rounds.ts';

const HOUR_MS = 3_600_000;
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu'];

const duesFrom = (moment: string, count: number, rhythm: Parameters<typeof dueAfter>[2]) => {
  const day = dayOf(new Date(moment), rhythm);
  const found: string[] = [];
  for (let due = dueAfter(new Date(moment), day, rhythm); found.length < count; due = dueAfter(due, day, rhythm))
    found.push(due.toISOString().slice(5, 16));
  return found;
};

t.test('where clocks skip a time it is an hour later, and where they repeat one it counts once', async t => {
  const daily = { intervalHours: 24, startTime: '02:30', timeZone: 'Europe/Berlin' };
  t.same(duesFrom('2025-03-28T12:00:00Z', 3, daily), ['03-29T01:30', '03-30T01:30', '03-31T00:30']);
  t.same(duesFrom('2025-10-24T12:00:00Z', 3, daily), ['10-25T00:30', '10-26T00:30', '10-27T01:30']);
  const twiceADay = { ...daily, intervalHours: 12, startTime: '04:00' };
  t.same(duesFrom('2025-03-29T12:00:00Z', 3, twiceADay), ['03-29T15:00', '03-30T02:00', '03-30T14:00']);
  const hourly = { ...daily, intervalHours: 1, startTime: '00:30' };
  t.same(duesFrom('2025-10-25T23:00:00Z', 3, hourly), ['10-25T23:30', '10-26T00:30', '10-26T02:30']);
});

t.test('a check is due today if the start time is ahead, else after enough intervals', async t => {
  const rhythm = { intervalHours: 168, startTime: '04:00', timeZone: 'UTC' };
  t.same(duesFrom('2025-01-01T03:59:59Z', 2, rhythm), ['01-01T04:00', '01-08T04:00']);
  t.same(duesFrom('2025-01-01T04:00:00Z', 2, rhythm), ['01-08T04:00', '01-15T04:00']);
  const startDay = (moment: string) => nextStartDay(new Date(moment), rhythm).toISOString().slice(5, 10);
  t.equal(startDay('2025-01-01T03:59:59Z'), '01-01');
  t.equal(startDay('2025-01-01T04:00:00Z'), '01-02');
});

t.test('due times are ahead, within the interval, and keep the start time', async t => {
  const two = (value: number) => String(value).padStart(2, '0');
  const rhythms = fc.record({
    intervalHours: fc.oneof(
      fc.integer({ min: 1, max: 60 }).map(days => 24 * days),
      fc.constantFrom(1, 2, 3, 4, 6, 8, 12),
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
    fc.property(rhythms, moments, fc.integer({ min: 0, max: 24 * 400 }), (rhythm, begin, hoursLater) => {
      const { intervalHours, startTime, timeZone } = rhythm;
      const day = dayOf(begin, rhythm);
      const now = new Date(begin.getTime() + hoursLater * HOUR_MS);
      const due = dueAfter(now, day, rhythm);
      const next = dueAfter(due, day, rhythm);
      t.ok(due > now && next > due);
      const aheadHours = (due.getTime() - now.getTime()) / HOUR_MS;
      t.ok(aheadHours <= Math.max(intervalHours, 24) + 2.1, `${aheadHours} hours ahead`);
      t.ok(Math.abs((next.getTime() - due.getTime()) / HOUR_MS - intervalHours) <= 2.1);
      const wallClock = due.toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
      t.ok(intervalHours % 24 !== 0 || wallClock === startTime, `${wallClock} for ${startTime}`);
    }),
    { numRuns: rounds(100) },
  );
});

t.test('a newer version is recognized in every form', async t => {
  const rows: readonly [string, string | null, boolean][] = [
    ['v1.2.0', null, true],
    ['v1.2.0', '1.2.0', false],
    ['1.10.0', 'v1.9.9', true],
    ['v1.9.9', '1.10.0', false],
    ['v2.0.0', 'v2.0.0-rc.1', true],
    ['v2.0.0-rc.1', 'v2.0.0', false],
    ['v2.0.0-rc.2', 'v2.0.0-rc.1', true],
    ['4.0.14.2939', '4.0.14', true],
    ['1.2', '1.2.0', false],
    ['main-0a1b2c3', 'v1.0.0', true],
    ['v1.0.0', 'main-0a1b2c3', true],
    ['1.40.2.8395-c67dce28e', '1.40.2.8395-c67dce28e', false],
  ];
  for (const [offered, installed, isExpected] of rows)
    t.equal(isNews(offered, installed), isExpected, `${offered} where ${installed} is`);
  t.ok(isSameVersion('V1.0', '1.0'));
  const version = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }).map(numbers => numbers.join('.'));
  fc.assert(
    fc.property(version, version, (one, other) => {
      const isOrdered = Number(isNews(one, other)) + Number(isNews(other, one)) < 2;
      return isOrdered && !isNews(one, one);
    }),
    { numRuns: 200 },
  );
});
