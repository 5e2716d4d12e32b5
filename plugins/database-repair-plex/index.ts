// Repairs the database of Plex with DBRepair where `dbrepair` of its block says so: before a start, or at times, and
// then only while nobody uses the server, which is stopped meanwhile.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { LIMIT_MS, Repairs } from './repairs.ts';
import { settingsOf } from './settings.ts';

const KEY = 'plex';
const LOOK_MS = 5_000;
const GRACE_MS = 60_000;
/** After the set-up of the service, when nothing but its launch is left. */
const LAST = 1_000;

export default definePlugin({
  name: 'database-repair-plex',
  host: '^1',
  needs: ['process'],
  after: ['setup', 'config-files', 'services'],

  async setup(host) {
    const repairs = new Repairs(host);
    const jobs = await host.jobs('repair', {
      run: ({ key, signal }) => repairs.repair(key, signal),
      keep: { records: 5, perKey: true },
      deadlineMs: LIMIT_MS,
      graceMs: GRACE_MS,
    });
    host.every(host.paced(LOOK_MS), async () => {
      if (host.use('process.supervisor').settledMs === null) return;
      for (const named of host.use('config.store').blocks())
        if (named.configKey === KEY && named.block.enabled === true) await repairs.look(named, jobs);
    });
    host.tap(
      'process.prepare',
      async plan => {
        const named = host.use('config.store').findBlock(plan.processName);
        if (named?.configKey !== KEY) return plan;
        await repairs.endLeftOver(named.processName);
        // Whoever holds the server has its own reason to start it, and a crash is no time for a repair.
        if (plan.trigger === 'hold' || plan.trigger === 'auto-restart') return plan;
        const settings = settingsOf(named.block);
        if (settings.enabled && settings.beforeStart) await repairs.beforeStart(plan, named, settings);
        return plan;
      },
      { stage: LAST, deadlineMs: LIMIT_MS + GRACE_MS },
    );
  },
});
