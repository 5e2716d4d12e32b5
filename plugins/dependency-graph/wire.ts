// The wire form of the graph. Rows accept further members, which depend on the signals behind them.
import { z } from 'zod';
import type { ResponseBody } from '#core';

const record = z.record(z.string(), z.unknown());
const rows = z.array(record);

export const query = z.object({ process_name: z.string(), scope: z.string().optional() });

export const graphAnswer = z.lazy(() =>
  z.object({
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
    signal_errors: z.array(z.object({ signal: z.string(), error: z.string() })).optional(),
  }),
);

const kind = {
  signals: z.array(z.string()),
  strength: z.enum(['hard_runtime', 'hard_configured', 'soft_linkage']),
  classification: z.enum(['hard', 'linkage']),
};

export const wholeQuery = z.object({ scope: z.string().optional() });

export const wholeGraph = z.lazy(() =>
  z.object({
    scope: z.string(),
    nodes: z.array(
      z.object({
        process_name: z.string(),
        key: z.string(),
        enabled: z.boolean(),
        state: z.enum(['running', 'stopped', 'disabled', 'missing', 'unknown']),
      }),
    ),
    edges: z
      .array(z.object({ source: z.string(), target: z.string(), ...kind }))
      .describe('from the dependency to the dependent'),
    partial: z.boolean(),
    signal_errors: graphAnswer.unwrap().shape.signal_errors,
  }),
);

export type WholeGraph = ResponseBody<typeof wholeGraph>;
export type GraphDescription = ResponseBody<typeof graphAnswer>;
