// The edges that belong to a scope, and the kind of each, as clients see them.
import type { ProcessStatus } from '../process/contract.ts';
import type { Scope, Strength } from './contract.ts';
import { classificationOf, compare, type Edge, strengthOf } from './structure.ts';

export type State = 'running' | 'stopped' | 'disabled' | 'missing' | 'unknown';

/** Strengths by the names of signals. */
export type Strengths = ReadonlyMap<string, Strength>;

export function edgesInScope(edges: readonly Edge[], scope: Scope, strengths: Strengths): Edge[] {
  if (scope === 'all') return [...edges];
  return edges.flatMap(edge => {
    const signals = edge.signals.filter(signal => strengths.get(signal) !== 'soft_linkage');
    return signals.length === 0 ? [] : [{ ...edge, signals }];
  });
}

export function kindOf(signals: readonly string[], strengths: Strengths) {
  const strength = strengthOf(signals, strengths);
  return { signals: [...signals].sort(compare), strength, classification: classificationOf(strength) };
}

export function wireEdge({ dependency, dependent, signals }: Edge, strengths: Strengths) {
  return { source: dependency, target: dependent, ...kindOf(signals, strengths) };
}

/** The state of a service that several processes make up. A status is undefined when the run state cannot be read. */
export function stateOf(statuses: readonly (ProcessStatus | undefined)[], isEnabled: boolean): State {
  if (statuses.length === 0) return 'missing';
  if (statuses.includes('running')) return 'running';
  if (statuses.includes(undefined) || statuses.includes('unknown')) return 'unknown';
  return isEnabled ? 'stopped' : 'disabled';
}
