// Makes the form of a bundle that a provider gets. Of a stack it has only what matters most, because a large stack does
// not fit into a prompt.
import { isObject } from '#kit/plain-object';
import type { DiagnosisScope } from '../contract.ts';
import { cutText, eachAnalysis, fitBundle } from '../diagnosis/size-limit.ts';
import { isPlanning } from './planning.ts';

type Bundle = Record<string, unknown>;

const ATTENTION = 5;
const PROCESSES = 30;
const NODES = 40;
const EDGES = 60;
const ERRORS = 5;
const DOCS_CHARS = 3_500;
const DOCS_SOURCE_CHARS = 900;
const LOGS_CHARS = 1_800;
const LOG_CHARS = 900;
const SIGNATURES = 5;
const EXCERPTS = 8;
const METRICS_SERVICES = 30;
const CHANGES = 20;
const LOGS_NOTE = 'Logs are left out, because the question is about how the stack should be built.';
const CONFIGS_NOTE = 'Configurations of services are left out; ask about one service to see its own.';

const NODE_MEMBERS = ['id', 'label', 'state', 'key'];
const EDGE_MEMBERS = ['source', 'target', 'strength', 'signals'];

export interface CompactionRequest {
  readonly scope: DiagnosisScope;
  readonly bundle: Readonly<Bundle>;
  readonly question: string;
  /** How many characters the prompt may have. */
  readonly budgetChars: number;
}

export function compacted({ scope, bundle, question, budgetChars }: CompactionRequest): Bundle {
  return fitBundle(scope === 'stack' ? compactStack(bundle, question) : bundle, budgetChars);
}

function compactStack(bundle: Readonly<Bundle>, question: string): Bundle {
  const planning = isPlanning(question);
  const { logs, log_analysis: analysis, service_configs: configs, ...rest } = bundle;
  return {
    ...rest,
    analysis_mode: planning ? 'workflow_planning' : 'diagnostic',
    ...changed(bundle, 'stack_summary', compactSummary),
    ...changed(bundle, 'processes', listOf(PROCESSES)),
    ...changed(bundle, 'dependency_graph', compactGraph),
    ...changed(bundle, 'docs_context', compactDocs),
    ...changed(bundle, 'runtime_metrics', compactMetrics),
    ...changed(bundle, 'change_history', listOf(CHANGES)),
    ...(configs === undefined ? {} : { service_configs_note: CONFIGS_NOTE }),
    ...(logs === undefined ? {} : planning ? { logs_note: LOGS_NOTE } : { logs: compactLogs(logs) }),
    ...(analysis === undefined || planning ? {} : { log_analysis: eachAnalysis(analysis, compactAnalysis) }),
  };
}

function changed(bundle: Readonly<Bundle>, name: string, change: (value: unknown) => unknown): Bundle {
  return Object.hasOwn(bundle, name) ? { [name]: change(bundle[name]) } : {};
}

function listOf(length: number): (value: unknown) => unknown {
  return value => (Array.isArray(value) ? value.slice(0, length) : value);
}

function compactSummary(summary: unknown): unknown {
  if (!isObject(summary) || !isObject(summary.attention)) return summary;
  const attention = Object.entries(summary.attention).map(([group, entries]) => [group, listOf(ATTENTION)(entries)]);
  return { counts: summary.counts, attention: Object.fromEntries(attention) };
}

function compactGraph(graph: unknown): unknown {
  if (!isObject(graph)) return graph;
  const nodes = Array.isArray(graph.nodes) ? graph.nodes : [];
  const edges = Array.isArray(graph.edges) ? graph.edges : [];
  return {
    scope: graph.scope,
    partial: graph.partial,
    nodes: nodes.slice(0, NODES).map(membersOf(NODE_MEMBERS)),
    edges: edges.slice(0, EDGES).map(membersOf(EDGE_MEMBERS)),
    omitted: { nodes: Math.max(0, nodes.length - NODES), edges: Math.max(0, edges.length - EDGES) },
    errors: listOf(ERRORS)(graph.errors),
  };
}

function membersOf(names: readonly string[]): (value: unknown) => unknown {
  return value =>
    isObject(value)
      ? Object.fromEntries(names.flatMap(name => (Object.hasOwn(value, name) ? [[name, value[name]]] : [])))
      : value;
}

function compactDocs(docs: unknown): unknown {
  if (!isObject(docs) || !Array.isArray(docs.sources)) return docs;
  let leftChars = DOCS_CHARS;
  const sources = docs.sources.filter(isObject).flatMap(source => {
    if (leftChars <= 0) return [];
    const excerpt = cutText(String(source.excerpt ?? ''), Math.min(leftChars, DOCS_SOURCE_CHARS));
    leftChars -= excerpt.length;
    return [{ ...source, excerpt }];
  });
  return { ...docs, sources };
}

/** Keeps the ends of logs, because they are newer. */
function compactLogs(logs: unknown): unknown {
  if (!isObject(logs)) return logs;
  let leftChars = LOGS_CHARS;
  const kept = Object.entries(logs).flatMap(([name, log]) => {
    if (leftChars <= 0 || !isObject(log) || typeof log.content !== 'string') return [];
    const content = log.content.slice(-Math.min(leftChars, LOG_CHARS));
    leftChars -= content.length;
    const cut = log.content.length - content.length;
    return [[name, { ...log, content: cut > 0 ? `[TRUNCATED ${cut} chars]\n${content}` : content }]];
  });
  return Object.fromEntries(kept);
}

function compactAnalysis(analysis: Bundle): Bundle {
  const { coverage, levels, restart_markers, stop_markers, top_error_signatures, new_error_signatures, excerpts } =
    analysis;
  return {
    coverage,
    levels,
    restart_markers,
    stop_markers,
    top_error_signatures: listOf(SIGNATURES)(top_error_signatures),
    new_error_signatures: listOf(SIGNATURES)(new_error_signatures),
    excerpts: Array.isArray(excerpts) ? excerpts.slice(-EXCERPTS) : excerpts,
  };
}

function compactMetrics(metrics: unknown): unknown {
  if (!isObject(metrics) || !isObject(metrics.services)) return metrics;
  return { ...metrics, services: Object.fromEntries(Object.entries(metrics.services).slice(0, METRICS_SERVICES)) };
}
