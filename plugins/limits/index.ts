// Limits of what services use of the machine: `nice`, `limits` and `memory_restart` in their blocks.

import { z } from 'zod';
import { definePlugin } from '#core';
import type { ProcessSnapshot } from '../process/contract.ts';
import type { Enforcement } from './enforcement.ts';
import { watchMemory } from './memory-watch.ts';
import { type LimitKeys, limitsBlock } from './settings.ts';

export default definePlugin({
  name: 'limits',
  host: '^1',
  needs: ['process'],

  setup(host) {
    host.contribute('config.block', 'limits', { schema: limitsBlock });
    const inForce = new Map<string, { readonly pid: number | null; readonly enforcement: Enforcement }>();
    let revision = 0;
    const limit = async ({ processName, pid }: ProcessSnapshot, block: Readonly<Record<string, unknown>>) => {
      const keys = block as LimitKeys;
      if (pid === null || (keys.nice === undefined && keys.limits === undefined)) return;
      const { enforce } = await import('./enforcement.ts');
      const enforcement = await enforce(pid, keys);
      inForce.set(processName, { pid, enforcement });
      revision += 1;
      for (const fault of enforcement.faults) host.log.warn(`${processName}: ${fault}`);
      const told = Object.entries(enforcement.means).map(([key, means]) => `${key} by ${means}`);
      if (told.length > 0) host.log.info(`${processName} is limited: ${told.join(', ')}`);
    };

    host.tap('process.launched', (plan, process) => limit(process, plan.block));
    // An adopted process still has its limits; they are set again to find out what enforces them.
    host.tap('process.status', process => {
      if (!process.adopted || process.status !== 'running') return;
      const block = host.use('config.store').findBlock(process.processName)?.block;
      if (block !== undefined && inForce.get(process.processName)?.pid !== process.pid) return limit(process, block);
    });
    host.contribute('process.entry', 'limits', {
      schema: z.object({
        limited_by: z
          .record(z.string(), z.enum(['cgroup', 'prlimit', 'none']))
          .optional()
          .describe('what enforces each of its limits: cgroup for all processes together, prlimit for each'),
      }),
      members({ processName }) {
        const known = inForce.get(processName);
        const isCurrent = known !== undefined && host.find('process.supervisor')?.get(processName)?.pid === known.pid;
        return isCurrent ? { limited_by: known.enforcement.means } : {};
      },
      revision: () => revision,
    });
    watchMemory(host);
  },
});
