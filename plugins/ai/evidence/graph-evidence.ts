// Evidence from the dependency graph: which process needs which.
import type { Host } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../../dependency-graph/contract.ts';
import type { Evidence, EvidenceRequest } from '../contract.ts';

const SCOPE = 'runtime';
const MAX_ERRORS = 10;

export async function collectGraph(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  return request.scope === 'service' ? ofService(host, request) : ofStack(host, request);
}

async function ofService(host: Host, { targets: [target] }: EvidenceRequest): Promise<Evidence | undefined> {
  const graph = host.find('dependency.graph');
  if (graph === undefined || target === undefined) return undefined;
  try {
    const dependency_graph = await graph.describe(target.processName, SCOPE);
    return { members: { dependency_graph }, coverage: { dependency_graph: true } };
  } catch (error) {
    return { members: { dependency_graph_error: (error as Error).message } };
  }
}

/** The graphs of all enabled services, merged into one. */
async function ofStack(host: Host, { targets, signal }: EvidenceRequest): Promise<Evidence | undefined> {
  const graph = host.find('dependency.graph');
  if (graph === undefined) return undefined;
  const nodes = new Map<string, unknown>();
  const edges = new Map<string, unknown>();
  const errors: { process_name: string; error: string }[] = [];
  let partial = false;
  for (const { processName } of targets.filter(({ enabled }) => enabled)) {
    signal.throwIfAborted();
    try {
      const described = await graph.describe(processName, SCOPE);
      partial ||= described.partial;
      for (const node of described.nodes.filter(isObject)) nodes.set(String(node.id ?? node.process_name), node);
      for (const edge of described.edges.filter(isObject)) {
        const { source, target, strength, signals } = edge;
        edges.set(JSON.stringify([source, target, strength, signals]), edge);
      }
    } catch (error) {
      partial = true;
      if (errors.length < MAX_ERRORS) errors.push({ process_name: processName, error: (error as Error).message });
    }
  }
  const dependency_graph = { scope: SCOPE, partial, nodes: [...nodes.values()], edges: [...edges.values()], errors };
  return { members: { dependency_graph }, coverage: { dependency_graph: nodes.size > 0 } };
}
