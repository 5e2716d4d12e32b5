// Schedules: their time zone, daylight saving, when they run next, and which ones are refused.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { Schedule } from '../../../core/contract/job.ts';
import { createCron } from '../../../core/jobs/schedule.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const owner = { fault: () => undefined, run: (fn: () => unknown) => fn() };

function times(expression: string, from: string, count: number): string[] {
  const cron = createCron(owner as never, expression, () => undefined, 'Europe/Berlin');
  return cron.nextRuns(count, new Date(from)).map(time => time.toISOString().slice(5, 16));
}

t.test('daylight saving: a time of day runs once a day, an interval follows the wall clock', async t => {
  t.same(times('30 2 * * *', '2026-03-28T12:00:00Z', 2), ['03-29T01:00', '03-30T00:30'], 'the gap ends at 01:00Z');
  t.same(times('30 2 * * *', '2026-10-24T12:00:00Z', 2), ['10-25T00:30', '10-26T01:30'], 'the first of the two');
  t.same(times('0,30 2 * * *', '2026-03-28T12:00:00Z', 1), ['03-30T00:00'], 'a list skips the gap');
  const twice = ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30'];
  t.same(times('0,30 2 * * *', '2026-10-24T12:00:00Z', 4), twice, 'a list runs in both hours');
});

interface Times {
  default: Schedule;
  given: Schedule;
  every: Schedule;
  never: Schedule;
  runs: number;
}

async function withSchedules(t: Test, tz: string) {
  const times = { runs: 0 } as Times;
  Object.assign(globalThis, { schedulesOfTest: times });
  const configDir = testDir(t);
  const folder = path.join(configDir, 'plugins', `clock-${tz === 'Nowhere/City' ? 'b' : 'a'}`);
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'index.js'),
    `export default { name: '${path.basename(folder)}', host: '^1', setup (host) {
      const times = globalThis.schedulesOfTest
      times.default = host.cron('30 4 * * *', () => {})
      times.given = host.cron('30 4 * * *', () => {}, { timeZone: 'Asia/Kolkata' })
      times.never = host.cron('0 0 30 2 *', () => {})
      times.every = host.cron('* * * * * *', () => { times.runs += 1 })
      times.before = times.every.next()
    } }`,
  );
  const app = await startHost({ configDir, config: { tz }, plugins: [path.basename(folder)] });
  t.teardown(() => app.stop());
  return { times, app };
}

t.test('the time zone is the given one, else that of the configuration', async t => {
  const { times, app } = await withSchedules(t, 'Pacific/Kiritimati');
  const clock = (schedule: Schedule) => schedule.next()?.toISOString().slice(11, 16);
  t.equal(clock(times.default), '14:30', '04:30 at UTC+14');
  t.equal(clock(times.given), '23:00', '04:30 at UTC+5:30');
  t.equal(times.never.next(), null);
  t.ok((times as unknown as { before: unknown }).before instanceof Date, 'known before the host is ready');
  await until(() => times.runs > 1);
  times.every.stop();
  t.equal(times.every.next(), null);
  await app.host.stop();
  t.equal(times.default.next(), null, 'it ends with its plugin');
});

t.test('an unknown time zone in the configuration is ignored', async t => {
  const { times } = await withSchedules(t, 'Nowhere/City');
  const next = times.default.next();
  t.same([next?.getHours(), next?.getMinutes()], [4, 30], 'local time');
});

for (const [name, call] of Object.entries({
  expression: `host.cron('sometimes', () => {})`,
  zone: `host.cron('* * * * *', () => {}, { timeZone: 'Nowhere/City' })`,
})) {
  t.test(`a schedule whose ${name} cannot be understood is refused`, async t => {
    const configDir = testDir(t, {
      plugins: {
        [`bad-${name}`]: {
          'index.js': `export default { name: 'bad-${name}', host: '^1', setup (host) { ${call} } }`,
        },
      },
    });
    const app = await startHost({ configDir, config: {}, plugins: [`bad-${name}`] });
    t.teardown(() => app.stop());
    const [report] = app.host.plugins().filter(plugin => plugin.name === `bad-${name}`);
    t.match(report, { state: 'failed', reason: /the schedule '.*'.* cannot be understood/ });
  });
}

t.test('a time beyond the limit of timers is not taken for zero', async t => {
  const runs: string[] = [];
  Object.assign(globalThis, { longRunsOfTest: runs });
  const app = await startWithPlugins(t, {
    patient: `const jobs = await host.jobs('long', { deadlineMs: 3_000_000_000, run: ({ signal }) => new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        host.on('patient.done', () => resolve('done'))
      }) })
      host.event('patient.done', { description: 'x' })
      host.every(3_000_000_000, () => { globalThis.longRunsOfTest.push('long') })
      let ticks = 0
      host.every(5, () => { globalThis.longRunsOfTest.push('short'); ticks += 1; if (ticks >= 10) host.emit('patient.done', {}) })
      host.route({ method: 'POST', path: '/long', summary: 'x', handle: async () => ({ result: await jobs.run('key') }) })`,
  });
  t.same((await app.post('/long')).body, { result: 'done' });
  await until(() => runs.length >= 10);
  t.notOk(runs.includes('long'));
});

t.test('a timer with a tiny interval pauses after a failure', async t => {
  const runs: string[] = [];
  Object.assign(globalThis, { failingRunsOfTest: runs });
  await startWithPlugins(t, {
    hasty: `host.every(1e-9, () => { globalThis.failingRunsOfTest.push('failed'); throw new Error('always') })
      host.every(50, () => { globalThis.failingRunsOfTest.push('well') })`,
  });
  const count = (kind: string): number => runs.filter(run => run === kind).length;
  await until(() => count('well') >= 20);
  t.ok(count('failed') > 0 && count('failed') < 20, `${count('failed')} runs`);
});
