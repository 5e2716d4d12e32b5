// The schedule of updates and its records, over restarts of the host.
import { mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { recordEvents } from '../../support/events.ts';
import { startHost } from '../../support/host.ts';
import { check, install, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];
const PACE = 0.02;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const now = () => Math.floor(Date.now() / 1_000);
/** So that a week later is some days ahead, whichever day it is. */
const FIRST_DAY = new Date(Date.now() - 3 * DAY_S * 1_000).toISOString().slice(0, 10);
const timeOfDay = (moment: Date) => moment.toISOString().slice(11, 16);

t.test('schedules and records', async t => {
  const shelf = await makeShelf(t);
  await shelf.publish('v1.1.0');
  const recorder = await recordEvents(t, PLUGINS);
  const daily = { auto_update: true };
  // Half a day from now, so that no test run comes near it.
  const startTime = timeOfDay(new Date(Date.now() + 12 * HOUR_S * 1_000));
  const weekly = { ...daily, auto_update_interval: 168, auto_update_start_time: startTime };
  const config = {
    tz: 'UTC',
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    gadget: {
      instances: {
        Wary: await shelf.service('Wary', weekly),
        Daily: await shelf.service('Daily', { ...daily, auto_update_start_time: startTime }),
        Weekly: await shelf.service('Weekly', weekly),
        Watched: await shelf.service('Watched', { ...weekly, auto_update_mode: 'check_only' }),
        Pinned: await shelf.service('Pinned', { ...daily, pinned_version: 'v1.0.0' }),
        Still: await shelf.service('Still'),
        // Disabled, because a boot would wait for it.
        Held: await shelf.service('Held', { ...weekly, enabled: false }),
      },
    },
  };
  const file = path.join(shelf.configDir, 'update_notices.json');
  const content = async () => JSON.parse(await readFile(file, 'utf8'));
  const open = async () => {
    const app = await startHost({
      configDir: shelf.configDir,
      config,
      pluginDirs: [...shelf.pluginDirs, ...recorder.pluginDirs.slice(1)],
      plugins: recorder.plugins,
      pace: PACE,
    });
    t.teardown(() => app.stop());
    return app;
  };
  const plan = (nextAt: number, more = {}) => ({
    interval_hours: 168,
    start_time: startTime,
    time_zone: 'UTC',
    first_day: FIRST_DAY,
    next_check_at: nextAt,
    ...more,
  });

  await t.test('a schedule begins at the next start time, and can be reset', async t => {
    await writeFile(file, '{"applied": [');
    const app = await open();
    const names = await readdir(shelf.configDir);
    t.ok(
      names.some(name => name.startsWith('update_notices.json.corrupt-')),
      'a file that cannot be read is set aside',
    );
    const next = (await updateStatus(app, 'Daily')).next_check_at;
    t.match(await updateStatus(app, 'Daily'), {
      status: 'scheduled',
      auto_update_enabled: true,
      auto_update_mode: 'install',
      auto_update_interval: 24,
    });
    t.equal(timeOfDay(new Date(next * 1_000)), startTime);
    t.ok(next > now() && next <= now() + DAY_S);
    for (const name of ['Pinned', 'Still']) t.equal(await updateStatus(app, name), null, name);
    await check(app, 'Weekly');
    const minute = String((new Date().getUTCMinutes() + 30) % 60).padStart(2, '0');
    const block = { auto_update_interval: 1, auto_update_start_time: `00:${minute}` };
    await app.post('/config', { process_name: 'Weekly', updates: block });
    const { body } = await app.post('/process/auto-update/reschedule', { process_name: 'weekly' });
    t.match(body, { status: 'ok', message: /^Updates of Weekly are looked for at / });
    const status = await updateStatus(app, 'Weekly');
    t.match(status, { status: 'update_available', available_version: 'v1.1.0', auto_update_interval: 1 });
    t.ok(status.next_check_at <= now() + HOUR_S);
    const disabled = await app.post('/process/auto-update/reschedule', { process_name: 'Still' });
    t.match(disabled.body, { status: 'ok', message: /set auto_update/ });
    t.match((await app.post('/process/auto-update/reschedule', { process_name: 'Pinned' })).body, {
      message: /because Pinned stays where pinned_version keeps it/,
    });
    await rm(file);
    await mkdir(file);
    await app.post('/process/auto-update/reschedule', { process_name: 'Daily' });
    await rmdir(file);
    const again = await until(content, { what: 'what could not be written before' });
    t.ok(again.schedules.Daily);
    await app.stop();
    t.equal((await stat(file)).mode & 0o777, 0o600);
  });

  await t.test('results and schedules survive a restart', async t => {
    const kept = await content();
    const isFirst = (type: string) => recorder.count(type as 'update.available', 'Weekly');
    t.equal(isFirst('update.available'), 1);
    const notices = Array.from({ length: 40 }, (_, index) => ({
      id: String(index),
      type: 'applied',
      process_name: 'DUMB Frontend',
      status: 'updated',
      message: 'An earlier program has written this.',
    }));
    const foreign = {
      applied: [{ status: 'no notice' }, ...notices],
      project_statuses: { 'DUMB Frontend': { status: 'x' } },
    };
    const planned = now() + 5 * DAY_S;
    const schedules = {
      Weekly: plan(planned),
      Daily: plan(now() - DAY_S, { interval_hours: 24 }),
      Watched: plan(now() + 400 * DAY_S),
    };
    await writeFile(file, JSON.stringify({ ...kept, ...foreign, schedules }));
    const app = await open();
    t.match(await updateStatus(app, 'Weekly'), { status: 'update_available', next_check_at: planned });
    for (const name of ['Daily', 'Watched']) {
      const next = (await updateStatus(app, name)).next_check_at;
      t.equal(timeOfDay(new Date(next * 1_000)), startTime, `${name}: at its start time`);
      t.ok(next > now() && next <= now() + 8 * DAY_S, `${name}: what was missed, and what no clock has planned`);
    }
    await check(app, 'Weekly');
    t.equal(isFirst('update.available'), 1, 'people are told of a release once');
    const { body } = await app.get('/process/update-notices');
    t.equal(body.applied.length, 10);
    t.equal((await content()).applied.length, 30);
    await app.stop();
  });

  await t.test('due updates are checked for, and installed if wanted', async t => {
    // More time for machines on which a start takes longer than that.
    for (let aheadS = 6; ; aheadS *= 2) {
      const due = plan(now() + aheadS);
      const schedules = { Wary: due, Weekly: due, Watched: due, Held: due };
      const failed = { status: 'error', message: 'It did not come up.', failed_version: 'v1.1.0' };
      await writeFile(file, JSON.stringify({ schedules, statuses: { Wary: failed } }));
      const app = await open();
      await app.post('/shelf/hold', { process_name: 'Held' });
      const isPlanned = (await updateStatus(app, 'Weekly')).next_check_at === due.next_check_at;
      if (isPlanned) {
        const stateOf = async (name: string) => (await updateStatus(app, name)).status;
        await until(
          async () => (await stateOf('Weekly')) === 'updated' && (await stateOf('Watched')) === 'update_available',
        );
        t.equal(await stateOf('Wary'), 'update_available', 'a release that failed is not tried again by itself');
        const { next_check_at: next } = await updateStatus(app, 'Weekly');
        t.ok(next > now() + DAY_S, 'and looked for again after the interval');
        // The held service is due too, and its check may be running.
        const byHand = await until(async () => {
          const { body } = await install(app, 'Watched');
          return body.reason !== 'update_in_progress' && body;
        });
        t.equal(byHand.status, 'updated', 'by hand whatever the schedule does');

        await until(async () => (await stateOf('Held')) === 'deferred', { what: 'the one that is held' });
        await until(async () => (await updateStatus(app, 'Held')).next_check_at < now() + HOUR_S, {
          what: 'another try before its next time',
        });
        await app.post('/shelf/hold', {});
        await until(async () => (await stateOf('Held')) === 'updated', { what: 'another try' });
        await until(async () => (await updateStatus(app, 'Held')).next_check_at > now() + DAY_S, {
          what: 'its own time',
        });
      }
      await app.stop();
      if (isPlanned) break;
    }
  });
});
