// The health of services' databases: read at intervals without changing or hindering them, scored, and added to every
// sample of metrics.
import { definePlugin, type NamedBlock } from '#core';
import type {} from '../host-plugins/contract.ts';
import type {} from '../metrics/contract.ts';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { fileKinds } from './file-kinds.ts';
import { Health } from './health.ts';
import { probePoint, storesPoint } from './points.ts';
import { contributeConditions } from './pressure-conditions.ts';
import { databaseHealthSection } from './settings.ts';
import { healthQuery, healthSchema, overviewToKept, overviewToWire } from './wire.ts';

/** How often the plugin checks which readings are due. */
const DUE_MS = 5_000;

export default definePlugin({
  name: 'database-health',
  host: '^1',
  needs: ['metrics'],

  setup(host) {
    host.contribute('config.schema', 'database-health', {
      path: ['dumb', 'metrics', 'database_health'],
      schema: databaseHealthSection,
    });
    host.point('database.probe', probePoint);
    host.point('database.stores', storesPoint);
    const health = new Health(host);
    const userOf = (service: NamedBlock) => {
      const { puid, pgid } = host.use('config.store').root();
      const usual = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
      return host.find('process.supervisor')?.userOf(service) ?? usual;
    };
    for (const [engine, kind] of Object.entries(fileKinds(health.look, userOf)))
      host.contribute('database.probe', engine, kind);

    host.route({
      method: 'GET',
      path: '/metrics/database-health',
      summary: 'How much the databases of services suffer, why, and what helps',
      capability: 'database_health_metrics',
      compress: true,
      query: healthQuery,
      response: healthSchema,
      async handle({ query: { process_name: processName, refresh } }) {
        if (refresh) await health.invalidate(processName);
        return overviewToWire(await health.collect(processName));
      },
    });
    host.contribute('metrics.collector', 'database_health', {
      place: 'sample',
      collect: async () => overviewToWire(await health.sample()),
      kept: overviewToKept,
    });
    contributeConditions(host, health);
    host.contribute('host.fact', 'database_health_service_keys', { values: () => health.serviceKeys() });
    host.every(host.paced(DUE_MS), () => health.keepUp());
    return () => health.close();
  },
});
