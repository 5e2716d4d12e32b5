// Services that run at certain times: `schedule` in their blocks.
import { z } from 'zod';
import { definePlugin } from '#core';
import { declareHostState } from '#kit/host-state';
import type {} from '../process/contract.ts';
import { Schedules } from './schedules.ts';
import { ServedTimes, STATE_DIRECTORY } from './served-times.ts';
import { scheduleBlock } from './settings.ts';

const time = z.string().nullable().optional();

export default definePlugin({
  name: 'schedules',
  host: '^1',
  needs: ['process'],

  async setup(host) {
    declareHostState(STATE_DIRECTORY);
    host.contribute('config.block', 'schedules', {
      schema: scheduleBlock,
      // A service with a schedule is started by the schedule instead of the boot.
      defaults: blocks => blocks.map(({ block }) => (block.schedule === undefined ? {} : { autostart: false })),
    });
    const served = new ServedTimes(host.paths.configDir, host.log);
    await served.load();
    const schedules = new Schedules(host, served);
    host.contribute('process.entry', 'schedules', {
      schema: z.object({
        next_run: time.describe('when its schedule starts it next'),
        last_run: time.describe('when its schedule has started it last'),
      }),
      members: block => schedules.describe(block),
      revision: () => schedules.revision,
    });
    host.tap('host.ready', () => schedules.follow());
    host.tap('config.changed', () => schedules.follow());
    host.tap('process.status', process => schedules.moved(process));
    return () => served.saved();
  },
});
