// Services with a schedule: started at its times and not at boot, one run at a time, and missed times are logged.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { recordEvents } from '../../support/events.ts';
import { hold, holderFolder, release } from '../../support/holder.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { start, status, stop } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const EACH_SECOND = '* * * * * *';
const NEVER_NOW = '0 0 29 2 *';
/** Half an hour from now, in each hour, so that none of these times comes while a test counts missed ones. */
const MINUTE = (new Date().getMinutes() + 30) % 60;
const block = (processName: string, schedule: unknown, more: object = {}) => ({
  enabled: true,
  process_name: processName,
  command: ['sleep', '600'],
  suppress_logging: true,
  stop_grace_seconds: 1,
  schedule,
  ...more,
});

t.test('schedules start their services', async t => {
  const configDir = testDir(t, {});
  const state = path.join(configDir, 'schedules');
  await mkdir(state, { mode: 0o700 });
  const yesterday = Date.now() - 86_400_000;
  const served = Object.fromEntries(['Late', 'MadeUp', 'Halted', 'Gone'].map(name => [name, yesterday]));
  await writeFile(path.join(state, 'served.json'), JSON.stringify(served), { mode: 0o600 });
  await mkdir(path.join(configDir, 'supervisor'), { mode: 0o700 });
  const wanted = { Halted: { state: 'stopped', by: 'user', at: yesterday / 1_000, shown: false } };
  await writeFile(
    path.join(configDir, 'supervisor', 'state.json'),
    JSON.stringify({ version: 1, processes: {}, wanted }),
  );
  const { count, plugins, pluginDirs } = await recordEvents(t, ['schedules']);
  const app = await startHost({
    configDir,
    plugins,
    pluginDirs,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      job: block('Job', EACH_SECOND, { oneshot: true, command: ['true'] }),
      long: block('Long', EACH_SECOND),
      again: block('Again', { cron: EACH_SECOND, overlap: 'restart' }),
      rare: block('Rare', { cron: '0 12 1 1 *', time_zone: 'Asia/Tokyo' }),
      off: block('Off', EACH_SECOND, { enabled: false }),
      late: block('Late', `${MINUTE} * * * *`),
      madeup: block('MadeUp', { cron: `${MINUTE} */6 * * *`, missed: 'run' }),
      halted: block('Halted', { cron: `${MINUTE} */6 * * *`, missed: 'run' }),
      odd: block('Odd', 'now and then'),
      nowhere: block('Nowhere', { cron: NEVER_NOW, time_zone: 'Mars/Base' }),
    },
  });
  t.teardown(() => app.stop());
  const logged = (line: string) =>
    until(async () => (await ownLog(app)).some(one => one.includes(line)), { what: line });
  const entry = async (name: string) =>
    (await app.get('/process/processes')).body.processes.find(
      ({ process_name: other }: { process_name: string }) => other === name,
    );

  await until(() => count('service_start', 'Long') === 1);
  await until(() => count('service_start', 'Again') >= 2, { what: 'a restart of what still runs' });
  await logged('Long is not started by its schedule this time: it still runs from an earlier start');
  t.equal(count('service_start', 'Long'), 1);
  await until(async () => {
    const lines = await ownLog(app);
    return lines.filter(line => line.includes('Job has done its work, started by its schedule')).length >= 2;
  });
  await logged('Late: its schedule has missed 24 times while Stackwarden did not run, the last 20');
  await logged('MadeUp: its schedule has missed 4 times');
  await until(() => count('service_start', 'MadeUp') === 1, { what: 'the run that is made up for' });
  await logged('Halted is not started by its schedule this time: it was stopped by hand');
  t.equal((await status(app, 'Halted')).status, 'stopped');
  t.equal((await status(app, 'Late')).status, 'stopped', 'neither at boot nor made up for');
  t.equal((await status(app, 'Off')).status, 'stopped');
  t.match(await entry('Rare'), { next_run: /^20\d\d-01-01T03:00:00Z$/, last_run: null });
  t.match(await entry('Job'), { last_run: /^20.*Z$/ });
  t.equal((await entry('Off')).next_run, undefined);
  t.match((await entry('Odd')).config_problem, /cron expression/);
  t.match((await entry('Nowhere')).config_problem, /time zone/);

  await stop(app, 'Long');
  await logged('Long is not started by its schedule this time: it was stopped by hand');
  await app.post('/config', { process_name: 'Again', updates: { schedule: NEVER_NOW } });
  t.match(await entry('Again'), { next_run: /-02-29T/ });
  t.match(await start(app, 'Rare'), { status: 200 }, 'also by hand');
  await until(async () =>
    Object.keys(JSON.parse(await readFile(path.join(state, 'served.json'), 'utf8'))).includes('Job'),
  );
  t.notOk((await readFile(path.join(state, 'served.json'), 'utf8')).includes('Gone'));
});

t.test('an unknown time zone is reported', async t => {
  const configDir = testDir(t, {});
  const state = path.join(configDir, 'schedules');
  await mkdir(state, { mode: 0o700 });
  const served = { First: Date.now() - 86_400_000, Second: Date.now() - 86_400_000 };
  await writeFile(path.join(state, 'served.json'), JSON.stringify(served), { mode: 0o600 });
  const app = await startHost({
    configDir,
    plugins: ['schedules', 'config'],
    config: {
      tz: 'Mars/Base',
      first: block('First', `${MINUTE} * * * *`),
      second: block('Second', `${MINUTE} * * * *`),
    },
  });
  t.teardown(() => app.stop());
  for (const name of ['First', 'Second']) {
    await until(
      async () => (await ownLog(app)).some(line => line.includes(`${name}: its schedule has missed 24 times`)),
      { what: `what ${name} has missed` },
    );
    t.match(
      (await app.get('/process/processes')).body.processes.find(
        ({ process_name: other }: { process_name: string }) => other === name,
      ),
      { next_run: /^20/ },
    );
  }
});

t.test('a schedule waits until a hold has ended, and runs once then', async t => {
  const app = await startHost({
    configDir: testDir(t, {}),
    plugins: ['config', 'process', 'schedules', 'holder'],
    pluginDirs: [pluginsDir, await holderFolder(t)],
    config: { job: block('Job', EACH_SECOND, { enabled: false, oneshot: true, command: ['true'] }) },
  });
  t.teardown(() => app.stop());
  await hold(app, 'Job');
  t.equal((await app.post('/config', { process_name: 'Job', updates: { enabled: true } })).status, 200);
  const told = async (text: string) => (await ownLog(app)).filter(line => line.includes(text)).length;
  await until(async () => (await told('Job is held (its files are moved)')) === 1);
  t.equal(await told('Job has done its work'), 0);
  // From the second run on, a run may still be going on at the next second.
  t.equal(await told('Job is not started by its schedule'), 0);
  await release(app, 'Job');
  await until(async () => (await told('Job has done its work, started by its schedule')) > 0);
  t.equal(await told('Job is held (its files are moved)'), 1);
});
