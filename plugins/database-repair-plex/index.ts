// Repairs the database of Plex with DBRepair as `dbrepair` of its block says: before a start, or at intervals while no
// client uses the server, which is stopped meanwhile.
import { definePlugin } from '#core';
import type {} from '../process/contract.ts';
import { LIMIT_MS, Repairs } from './repairs.ts';
import { settingsOf } from './settings.ts';

const KEY = 'plex';
const LOOK_MS = 5_000;
const GRACE_MS = 60_000;
/** Runs after all other preparations of a start, right before the launch. */
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
      const supervisor = host.use('process.supervisor');
      if (supervisor.settledMs === null) return;
      for (const named of supervisor.blocks())
        if (named.configKey === KEY && named.block.enabled === true) await repairs.look(named, jobs);
    });
    host.tap(
      'process.prepare',
      async plan => {
        const named = host.use('config.store').findBlock(plan.processName);
        if (named?.configKey !== KEY) return plan;
        await repairs.endLeftOver(named.processName);
        // No repair when the start belongs to a hold, which has its own purpose, or follows a crash.
        if (plan.trigger === 'hold' || plan.trigger === 'auto-restart') return plan;
        const settings = settingsOf(named.block);
        if (settings.enabled && settings.beforeStart) await repairs.beforeStart(plan, named, settings);
        return plan;
      },
      { stage: LAST, deadlineMs: LIMIT_MS + GRACE_MS },
    );
  },
});
