// Prometheus: exports the numbers of all plugins for a Prometheus server that stores them.
import { z } from 'zod';
import { answer, type ContributionList, definePlugin } from '#core';
import { functionSchema } from '#kit/function-schema';
import type { ExportedMetrics, MetricFamily } from './contract.ts';
import { CONTENT_TYPES, exposition, formatFor } from './exposition.ts';
import { hostMetrics } from './host-metrics.ts';
import { requestMetrics } from './request-metrics.ts';

/** Scrapers wait for ten seconds by default. */
const DEADLINE_MS = 5_000;
const NAME = /^[a-z][a-z0-9_]{0,99}$/;
/** OpenMetrics gives series of a counter these ends, so that another metric would have the name of one of them. */
const KEPT_ENDS = /_(?:total|created)$/;

const families = z.array(
  z.object({
    name: z
      .string()
      .regex(NAME)
      .refine(name => !KEPT_ENDS.test(name), 'its end, _total or _created, belongs to counters; leave it out'),
    help: z.string(),
    type: z.enum(['gauge', 'counter']),
    samples: z.array(
      z.object({ labels: z.record(z.string().regex(NAME), z.string()).optional(), value: z.number().nullable() }),
    ),
  }),
);

export default definePlugin({
  name: 'prometheus',
  host: '^1',

  setup(host) {
    const areas = host.point('prometheus.metrics', {
      schema: z.looseObject({ families: functionSchema }),
      answers: { families },
      deadlineMs: DEADLINE_MS,
    });
    host.contribute('prometheus.metrics', 'host', hostMetrics);
    host.contribute('prometheus.metrics', 'requests', requestMetrics(host.use('http.requests')));
    host.route({
      method: 'GET',
      path: '/metrics/prometheus',
      tag: 'metrics',
      compress: true,
      response: z.string().describe('the text of the metrics'),
      mediaTypes: Object.values(CONTENT_TYPES).map(type => type.replace(/;.*/, '')),
      summary: 'All numbers in the text format of Prometheus, or of OpenMetrics where the client accepts it',
      async handle({ headers }) {
        const format = formatFor(String(headers.accept ?? ''));
        const text = exposition(await familiesOf(areas), format);
        return answer(text, { headers: { 'content-type': CONTENT_TYPES[format] } });
      },
    });
  },
});

/** The families of all contributions, in the order of their keys, so that all answers have the same order. */
async function familiesOf(areas: ContributionList<ExportedMetrics>): Promise<MetricFamily[]> {
  const sorted = [...areas].sort((a, b) => (a.key < b.key ? -1 : 1));
  // The host has logged a failure of a contribution; the others are answered.
  const found = await Promise.all(sorted.map(async ({ value }) => value.families()).map(told => told.catch(() => [])));
  return found.flat();
}
