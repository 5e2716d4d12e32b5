// What needs what, in which order to start, and why: one graph from all signal sources, for people and for the boot.
import { definePlugin } from '#core';
import { Graph } from './graph.ts';
import * as wire from './wire.ts';

export default definePlugin({
  name: 'dependency-graph',
  host: '^1',
  after: ['process', 'service-templates'],
  config: zod =>
    zod.object({
      startup_blocking: zod
        .array(zod.string())
        .default([])
        .describe('plugins whose signals may hold the start of a service up'),
    }),

  setup(host) {
    const graph = new Graph(host);
    host.provide('dependency.graph', graph);
    host.contribute('process.dependencies', 'graph', { startOrder: () => graph.startOrder() });

    host.route({
      method: 'GET',
      path: '/process/dependency-graph',
      summary: 'Everything that a process needs and that needs it, the order of starting, and why',
      query: wire.query,
      response: wire.graphAnswer,
      handle: ({ query }) => graph.describe(query.process_name, query.scope ?? 'runtime'),
    });
  },
});
