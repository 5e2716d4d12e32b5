// What a diagnosis says of the present comes from a sample of the metrics that is not old.
import t from 'tap';
import { healthOf } from '../../../plugins/ai/evidence/database-evidence.ts';
import { collectRecommendations } from '../../../plugins/ai/findings/recommendations.ts';

function sampleOf(pressure: string, percent: number) {
  const service = { process_name: 'App', monitoring_enabled: true, pressure };
  return {
    system: { fileSystems: [], memory: { percent } },
    collected: { sample: { database_health: { services: [service] } } },
  };
}

/** A host whose newest sample is old: things were bad then, and are well now. */
const sampler = { newest: () => sampleOf('critical', 99), sample: async () => sampleOf('healthy', 5) };
const host = { find: (name: string) => (name === 'metrics.sampler' ? sampler : undefined) } as never;

t.test('the health of databases', async t => {
  t.match(await healthOf(host, 'App'), { pressure: 'healthy' });
});

t.test('the findings about a service and the machine', async t => {
  const request = {
    scope: 'stack',
    targets: [{ processName: 'App' }],
    switches: new Set(['metrics']),
    gathered: {},
    signal: AbortSignal.timeout(60_000),
  };
  t.same((await collectRecommendations(host, request as never))?.recommendations, []);
});
