// The graph around one process, in wire form: rows, nodes, edges, start order, groups, and the signals behind each.
import type { ProcessStatus } from '../process/contract.ts';
import type { ServiceTemplate, ServiceTemplates } from '../services/contract.ts';
import type { GraphEntry, Scope } from './contract.ts';
import { orderOf, type Precedence } from './ordering.ts';
import { edgesInScope, kindOf, type State, type Strengths, stateOf, wireEdge } from './scoped-edges.ts';
import type { KnownSignal } from './signals.ts';
import { rankOf } from './start-order.ts';
import { compare, type Edge, type SignalNeed, type Structure, strengthOf } from './structure.ts';

export interface AnswerContext {
  readonly structure: Structure;
  readonly signals: readonly KnownSignal[];
  readonly templates: ServiceTemplates | undefined;
  /** undefined when the run state cannot be read. */
  status(processName: string): ProcessStatus | undefined;
}

interface Part {
  readonly key: string;
  readonly members: readonly string[];
  readonly row: { readonly signals: readonly string[] };
}

/** The process names of a dependency and its dependent. */
type Pair = readonly [string, string];

/** `pairs` are the relations between processes from which this relation between keys follows. */
interface PartPrecedence extends Precedence {
  readonly pairs: readonly Pair[];
}

const ROW_ORDER = ['core_service_map', 'conditional_startup_map', 'non_core_dependency_map'];

export class GraphAnswer {
  readonly #target: GraphEntry;
  readonly #scope: Scope;
  readonly #context: AnswerContext;
  readonly #strengths: Strengths;
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #entries: ReadonlyMap<string, GraphEntry>;
  readonly #outgoing: readonly Edge[];
  readonly #incoming: readonly Edge[];

  constructor(target: GraphEntry, scope: Scope, context: AnswerContext) {
    this.#target = target;
    this.#scope = scope;
    this.#context = context;
    const { structure, signals } = context;
    this.#strengths = new Map(signals.map(({ source, strength }) => [source.signal, strength]));
    this.#ranks = new Map(signals.map(({ source, rank }) => [source.signal, rank]));
    this.#entries = new Map(structure.snapshot.entries.map(entry => [entry.processName, entry]));
    const { processName } = target;
    this.#outgoing = edgesInScope(structure.outgoing.get(processName) ?? [], scope, this.#strengths);
    this.#incoming = edgesInScope(structure.incoming.get(processName) ?? [], scope, this.#strengths);
  }

  toWire() {
    const { processName, key } = this.#target;
    const dependencies = this.#dependencyRows();
    const dependents = this.#dependentRows();
    const isCore = this.#isCore();
    const { steps, cycles, demoted } = this.#startupOrder(isCore, dependencies, dependents);
    const dependencyRows = dependencies.map(({ row, key: rowKey }) =>
      demoted.has(rowKey) ? { ...row, cycle: true } : row,
    );
    const outgoing = this.#outgoing.map(edge => this.#processRow(edge.dependency, edge));
    const incoming = this.#incoming.map(edge => this.#processRow(edge.dependent, edge));
    const shown = [
      processName,
      ...[...dependencyRows, ...dependents.map(({ row }) => row), ...outgoing, ...incoming].map(
        row => row.process_name,
      ),
    ].filter(name => name !== '');
    return {
      process_name: processName,
      config_key: key,
      scope: this.#scope,
      context: {
        mode: isCore ? 'core' : 'dependency',
        key,
        core: {
          key,
          name: this.#label(key),
          dependencies: this.#needsOf(processName, 'core_service_map').map(need => need.key),
        },
      },
      startup_order: steps,
      dependency_rows: dependencyRows,
      dependent_rows: dependents.map(({ row }) => row),
      linked_outgoing_rows: outgoing,
      linked_incoming_rows: incoming,
      nodes: this.#nodes([...new Set(shown)]),
      edges: [...this.#outgoing, ...this.#incoming].map(edge => wireEdge(edge, this.#strengths)),
      parallel_groups: this.#groups(),
      cycles,
    };
  }

  #processRow(processName: string, { signals }: Edge) {
    const { key = '' } = this.#entries.get(processName) ?? {};
    const state = this.#stateOf([processName]);
    return { process_name: processName, key, label: processName, state, ...kindOf(signals, this.#strengths) };
  }

  #nodes(names: readonly string[]) {
    return names
      .map(name => ({
        id: name,
        process_name: name,
        key: this.#entries.get(name)?.key ?? '',
        label: name,
        state: this.#stateOf([name]),
      }))
      .sort((a, b) => compare(a.label, b.label) || compare(a.process_name, b.process_name));
  }

  /**
   * One row for each key that the target needs: first the static table in its order, then conditional ones, then the
   * rest.
   */
  #dependencyRows() {
    const needs = this.#hard(this.#context.structure.needs.get(this.#target.processName));
    const ordered = [...needs].sort(
      (a, b) =>
        rowRank(a.signal) - rowRank(b.signal) || (a.signal === 'conditional_startup_map' ? compare(a.key, b.key) : 0),
    );
    return [...new Set(ordered.map(need => need.key))].map(key => {
      const own = ordered.filter(need => need.key === key);
      const members = [...new Set(own.flatMap(need => need.members))];
      const starter = this.#starter(members);
      return {
        key,
        members,
        row: {
          process_name: starter ?? '',
          key,
          label: this.#label(key),
          state: this.#stateOf(members),
          process_count: members.length,
          scoped: this.#context.structure.snapshot.isScoped(key),
          starter_process_name: starter,
          ...kindOf(
            own.map(need => need.signal),
            this.#strengths,
          ),
        },
      };
    });
  }

  /** One row for each key whose services need the target: those of the static table first, otherwise sorted by key. */
  #dependentRows() {
    const needs = this.#hard(this.#context.structure.neededBy.get(this.#target.processName));
    const byKey = new Map<string, SignalNeed[]>();
    for (const need of needs) {
      const key = this.#entries.get(need.dependent)?.key ?? '';
      if (key !== this.#target.key) byKey.set(key, [...(byKey.get(key) ?? []), need]);
    }
    const isStatic = (list: readonly SignalNeed[]): number =>
      list.some(need => need.signal === 'core_service_map') ? 0 : 1;
    return [...byKey]
      .sort(([a, one], [b, other]) => isStatic(one) - isStatic(other) || compare(a, b))
      .map(([key, own]) => {
        const members = [...new Set(own.map(need => need.dependent))];
        const missing = members.flatMap(name =>
          this.#hard(this.#context.structure.needs.get(name))
            .filter(need => this.#stateOf(need.members) !== 'running')
            .map(need => need.key),
        );
        return {
          key,
          members,
          row: {
            process_name: members[0] ?? '',
            key,
            label: this.#label(key),
            state: this.#stateOf(members),
            missing_deps: [...new Set(missing)],
            ...kindOf([...new Set(own.map(need => need.signal))], this.#strengths),
          },
        };
      });
  }

  #startupOrder(isCore: boolean, dependencies: readonly Part[], dependents: readonly Part[]) {
    const { processName, key } = this.#target;
    const own = { key, members: [processName], signals: this.#ownSignals(isCore) };
    const rows = (isCore ? dependencies : dependents)
      .filter(row => row.key !== key)
      .map(({ key: rowKey, members, row }) => ({ key: rowKey, members, signals: row.signals }));
    const parts = isCore ? [...rows, own] : [own, ...rows];
    const { order, dropped, cycles } = orderOf(
      parts.map(part => part.key),
      this.#relationsAmong(parts),
    );
    const steps = order.map(name => {
      const part = parts.find(candidate => candidate.key === name) ?? own;
      return {
        key: name,
        label: this.#label(name),
        state: this.#stateOf(part.members),
        ...kindOf(part.signals, this.#strengths),
        process_name: name === key ? processName : this.#starter(part.members),
      };
    });
    return {
      steps,
      cycles: cycles.map(cycle => membersOf(cycle.flatMap(relation => relation.pairs))),
      demoted: new Set(dropped.map(relation => relation.before)),
    };
  }

  /** Hard relations between processes with different keys, as relations between the keys. */
  #relationsAmong(parts: readonly { key: string; members: readonly string[] }[]): PartPrecedence[] {
    const keyOf = new Map(parts.flatMap(({ key, members }) => members.map(name => [name, key] as const)));
    const found = new Map<string, PartPrecedence>();
    for (const [name, after] of keyOf) {
      for (const { dependency, signals } of this.#context.structure.outgoing.get(name) ?? []) {
        const before = keyOf.get(dependency);
        const hard = signals.filter(signal => this.#strengths.get(signal) !== 'soft_linkage');
        if (before === undefined || before === after || hard.length === 0) continue;
        const known = found.get(`${before} ${after}`);
        const rank = Math.max(rankOf(hard, this.#ranks), known?.rank ?? 0);
        found.set(`${before} ${after}`, {
          before,
          after,
          rank,
          pairs: [...(known?.pairs ?? []), [dependency, name]],
        });
      }
    }
    return [...found.values()];
  }

  #groups() {
    const isHard = ({ signals }: Edge) => strengthOf(signals, this.#strengths) !== 'soft_linkage';
    const before = this.#outgoing.filter(isHard).map(edge => edge.dependency);
    const after = this.#incoming.filter(isHard).map(edge => edge.dependent);
    return [
      { id: 'pre_core', label: 'Prerequisites', type: 'parallel', members: before.sort(compare) },
      { id: 'core_target', label: 'Selected service', type: 'serial', members: [this.#target.processName] },
      {
        id: 'post_core',
        label: 'Dependents',
        type: 'parallel',
        members: after.filter(name => !before.includes(name)).sort(compare),
      },
    ].filter(group => group.members.length > 0);
  }

  #isCore(): boolean {
    const { relations } = this.#template(this.#target.key) ?? {};
    const isActive = this.#context.structure.holding.get(this.#target.processName)?.has('conditional_startup_map');
    return relations?.core !== undefined || relations?.nonCore !== undefined || isActive === true;
  }

  #ownSignals(isCore: boolean): string[] {
    const { relations } = this.#template(this.#target.key) ?? {};
    if (relations?.core !== undefined) return ['core_service_map'];
    if (relations?.nonCore !== undefined) return ['non_core_dependency_map'];
    return isCore ? ['conditional_startup_map'] : [];
  }

  /** Rows by key have what a start needs; a soft link stands in the rows of processes only. */
  #hard(needs: readonly SignalNeed[] = []): SignalNeed[] {
    return needs.filter(need => this.#strengths.get(need.signal) !== 'soft_linkage');
  }

  #needsOf(processName: string, signal: string): SignalNeed[] {
    return (this.#context.structure.needs.get(processName) ?? []).filter(need => need.signal === signal);
  }

  /**
   * The member to start: the first that is enabled and not running, otherwise the first enabled, otherwise the first.
   */
  #starter(members: readonly string[]): string | null {
    const enabled = members.filter(name => this.#entries.get(name)?.enabled === true);
    return enabled.find(name => this.#context.status(name) !== 'running') ?? enabled[0] ?? members[0] ?? null;
  }

  #stateOf(members: readonly string[]): State {
    const isEnabled = members.some(name => this.#entries.get(name)?.enabled === true);
    return stateOf(
      members.map(name => this.#context.status(name)),
      isEnabled,
    );
  }

  #label(key: string): string {
    if (key === this.#target.key && key.startsWith('dumb_')) return this.#target.processName;
    const found = this.#template(key)?.displayName;
    return found ?? this.#context.structure.snapshot.entriesOf(key)[0]?.processName ?? key;
  }

  #template(key: string): ServiceTemplate | undefined {
    return this.#context.templates?.get(key);
  }
}

/** Signals that are not in `ROW_ORDER`, such as those of third parties, come last. */
function rowRank(signal: string): number {
  const rank = ROW_ORDER.indexOf(signal);
  return rank === -1 ? ROW_ORDER.length : rank;
}

/** The processes that are part of a cycle. When only their keys form a cycle, all processes of the pairs. */
function membersOf(pairs: readonly Pair[]): string[] {
  let left = pairs;
  for (;;) {
    const needed = new Set(left.map(([dependency]) => dependency));
    const needing = new Set(left.map(([, dependent]) => dependent));
    const kept = left.filter(([dependency, dependent]) => needing.has(dependency) && needed.has(dependent));
    if (kept.length === left.length) return [...new Set((left.length > 0 ? left : pairs).flat())];
    left = kept;
  }
}
