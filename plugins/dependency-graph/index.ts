// What needs what, in which order to start, and why: one graph from all signal sources, for people and for the boot.
import path from 'node:path';
import { z } from 'zod';
import { definePlugin } from '#core';
import { Graph } from './graph.ts';
import { readOwnSignals } from './own-signals.ts';

const record = z.record(z.string(), z.unknown());
const rows = z.array(record);

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
    const own = await readOwnSignals(path.join(host.paths.templatesDir, 'signals.json'));
    const graph = new Graph(host, own);
    host.provide('dependency.graph', graph);
    host.contribute('process.dependencies', 'graph', { startOrder: () => graph.startOrder() });
    host.contribute('process.detail', 'dependency-graph', {
      schema: z.object({ dependency_graph: record.describe('with an explicit scope') }),
      members: async ({ processName }, { scope }) =>
        scope === undefined ? {} : { dependency_graph: await graph.describe(processName, scope) },
    });

    host.route({
      method: 'GET',
      path: '/process/dependency-graph',
      summary: 'Everything that a process needs and that needs it, the order of starting, and why',
      query: z.object({ process_name: z.string(), scope: z.string().optional() }),
      response: z.object({
        process_name: z.string(),
        config_key: z.string(),
        scope: z.string(),
        context: record,
        startup_order: rows,
        dependency_rows: rows,
        dependent_rows: rows,
        linked_outgoing_rows: rows,
        linked_incoming_rows: rows,
        nodes: rows,
        edges: rows.describe('from the dependency to the dependent'),
        parallel_groups: rows,
        dependency_truth_table: rows,
        updated_at: z.string(),
        statuses: z.record(z.string(), z.string()),
        processes: rows,
        core_services: rows,
        cycles: z.array(z.array(z.string())),
        partial: z.boolean(),
        signal_errors: rows.optional(),
      }),
      handle: ({ query }) => graph.describe(query.process_name, query.scope ?? 'runtime'),
    });
  },
});
