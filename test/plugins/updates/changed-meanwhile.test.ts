// Scheduled updates that wait for others: each acts on the configuration as it is when its turn comes.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import type { Host } from '../../../core/contract/host.ts';
import type { UpdateRecords } from '../../../plugins/updates/update-records.ts';
import { UpdateSchedule } from '../../../plugins/updates/update-schedule.ts';
import { startHost } from '../../support/host.ts';
import { FIRST, makeShelf, updateStatus } from '../../support/shelf.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'services', 'setup', 'versions', 'updates', 'installs', 'install-shelf'];
const DAY_S = 24 * 3_600;
const now = () => Math.floor(Date.now() / 1_000);
/** Half a day from now, so that no test run comes near it. */
const START_TIME = new Date(Date.now() + (DAY_S / 2) * 1_000).toISOString().slice(11, 16);
const DAILY = { auto_update: true, auto_update_start_time: START_TIME };
/** A plan of an earlier host. */
const plan = (nextAt: number) => ({
  interval_hours: 24,
  start_time: START_TIME,
  time_zone: 'UTC',
  first_day: new Date(Date.now() - DAY_S * 1_000).toISOString().slice(0, 10),
  next_check_at: nextAt,
});

t.test('automatic updates that are switched off meanwhile are not made', async t => {
  const shelf = await makeShelf(t);
  const { configDir, pluginDirs } = shelf;
  await shelf.publish('v1.1.0');
  const names = ['Asked', 'Waiting', 'Last'] as const;
  const instances: Record<string, unknown> = {};
  for (const name of names) instances[name] = await shelf.service(name, DAILY);
  const config = {
    tz: 'UTC',
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    gadget: { instances },
  };
  // More time for machines on which a start takes longer than that.
  for (let aheadS = 6; ; aheadS *= 2) {
    const due = plan(now() + aheadS);
    const schedules = Object.fromEntries(names.map(name => [name, due]));
    await writeFile(path.join(configDir, 'update_notices.json'), JSON.stringify({ schedules }));
    await shelf.close();
    const app = await startHost({ configDir, config, pluginDirs, plugins: PLUGINS, pace: 0.02 });
    t.teardown(() => app.stop());
    const isPlanned = (await updateStatus(app, 'Last')).next_check_at === due.next_check_at;
    if (isPlanned) {
      await until(async () => (await shelf.asked()) > 0, { what: 'the look for the first update' });
      for (const [name, updates] of [
        ['Asked', { auto_update_mode: 'check_only' }],
        ['Waiting', { auto_update: false }],
      ] as const)
        t.match(await app.post('/config', { process_name: name, updates }), { status: 200 });
      await shelf.open();
      await until(async () => (await updateStatus(app, 'Last')).status === 'updated', { what: 'the last update' });
      t.match(await updateStatus(app, 'Asked'), { status: 'update_available' });
      t.equal(await updateStatus(app, 'Waiting'), null, 'it was not even looked for');
      for (const name of ['Asked', 'Waiting']) t.equal(await shelf.present(name), FIRST, name);
    }
    await app.stop();
    if (isPlanned) break;
  }
});

t.test('a service that is removed meanwhile is not updated, and gets no new plan', async t => {
  const blockOf = (processName: string) => ({ processName, configKey: 'gadget', block: DAILY });
  let blocks = ['Kept', 'Removed'].map(blockOf);
  let look = (): void => undefined;
  const services = {
    'config.store': { blocks: () => blocks, get: () => 'UTC' },
    'process.supervisor': { startup: () => ({ terminal: true }) },
  };
  const host = {
    signal: new AbortController().signal,
    paced: (ms: number) => ms,
    log: { error: (line: string) => t.fail(line) },
    use: (name: keyof typeof services) => services[name],
    find: (name: keyof typeof services) => services[name],
    every(_ms: number, callback: () => void) {
      look = callback;
    },
  };
  const updated: string[] = [];
  const planned: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const due = plan(now() + 2);
  const schedule = new UpdateSchedule(host as unknown as Host, {
    records: {
      schedule: () => due,
      setSchedule: async (name: string) => void planned.push(name),
    } as unknown as UpdateRecords,
    isPossible: () => true,
    update: async ({ processName }) => {
      updated.push(processName);
      await held;
      return false;
    },
  });
  schedule.start();
  await until(() => {
    look();
    return updated.length > 0;
  });
  blocks = ['Kept'].map(blockOf);
  planned.length = 0;
  release();
  await new Promise(setImmediate);
  t.same(updated, ['Kept']);
  t.same(planned, ['Kept']);
  schedule.end();
});
