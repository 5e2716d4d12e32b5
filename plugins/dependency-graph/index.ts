// The dependency graph of services, built from all signal sources: which service needs which, why, and the resulting
// start order.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import { blockKeys } from './block-keys.ts';
import { Graph } from './graph.ts';
import { readOwnSignals } from './own-signals.ts';
import * as wire from './wire.ts';

export default definePlugin({
  name: 'dependency-graph',
  host: '^1',
  after: ['process', 'services'],
  config: zod =>
    zod.object({
      startup_blocking: zod
        .array(zod.string())
        .default([])
        .describe('plugins whose signals may hold the start of a service up'),
    }),

  async setup(host) {
    host.contribute('config.block', 'dependency-graph', { schema: blockKeys, marksOnly: true });
    const own = await readOwnSignals(path.join(host.paths.templatesDir, 'signals.json'));
    const graph = new Graph(host, own);
    host.provide('dependency.graph', graph);
    host.contribute('process.dependencies', 'graph', { startOrder: () => graph.startOrder() });
    host.contribute('process.detail', 'dependency-graph', {
      schema: z.object({ dependency_graph: wire.graphAnswer.describe('with an explicit scope') }),
      members: async ({ processName }, { scope }) =>
        scope === undefined ? {} : { dependency_graph: await graph.describe(processName, scope) },
    });

    host.route({
      method: 'GET',
      path: '/process/dependency-graph',
      summary: 'Everything that a process needs and that needs it, the order of starting, and why',
      query: wire.query,
      response: wire.graphAnswer,
      handle: ({ query }) => graph.describe(query.process_name, query.scope ?? 'runtime'),
    });
    host.route({
      method: 'GET',
      path: '/process/dependency-graph/whole',
      summary: 'All processes, and which needs which',
      query: wire.wholeQuery,
      response: wire.wholeGraph,
      handle: ({ query }) => graph.whole(query.scope ?? 'runtime'),
    });
  },
});
