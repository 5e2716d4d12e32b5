// Updates: finds newer releases of services and installs them, on request or on a schedule. A release on which the
// service does not become ready is replaced by the previous one.
import { z } from 'zod';
import { definePlugin } from '#core';
import type {} from '../installs/contract.ts';
import type {} from '../process/contract.ts';
import { registerRoutes } from './routes.ts';
import { tellUnsupported } from './unsupported.ts';
import { registerUpdateEvents } from './update-events.ts';
import { UpdateRecords } from './update-records.ts';
import { statusSchema } from './update-result.ts';
import { Updates } from './updates.ts';

export default definePlugin({
  name: 'updates',
  host: '^1',
  after: ['installs', 'services', 'process'],

  async setup(host) {
    registerUpdateEvents(host);
    tellUnsupported(host);
    const records = await UpdateRecords.open(host);
    const updates = await Updates.open(host, records);
    registerRoutes(host, updates, records);
    host.contribute('process.entry', 'updates', {
      schema: z.object({ supports_manual_update: z.boolean(), update_status: statusSchema.nullable() }),
      members: block => updates.entry(block),
      revision: () => updates.revision,
    });
    host.tap('config.changed', () => {
      const store = host.use('config.store');
      // The blocks of an invalid configuration say nothing about removed processes.
      if (store.state === 'valid') return updates.keepOnly(new Set(store.blocks().map(block => block.processName)));
    });
    updates.start();
    return async () => {
      updates.end();
      await records.close();
    };
  },
});
