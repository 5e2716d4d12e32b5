// The graph of the present configuration, built once for each revision and set of sources.
import { type Host, type NamedBlock, Problem } from '#core';
import { turnWithTime } from '#kit/turns';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../process/contract.ts';
import type {} from '../service-ui/contract.ts';
import type { ServiceTemplates } from '../services/contract.ts';
import type {} from '../versions/contract.ts';
import { GraphAnswer } from './answer.ts';
import type { DependencyGraph, GraphEntry, Scope, SignalSource, StartOrder } from './contract.ts';
import { Entries } from './entries.ts';
import type { OwnSignal } from './own-signals.ts';
import { edgesInScope, stateOf, wireEdge } from './scoped-edges.ts';
import { type KnownSignal, type SignalError, Signals } from './signals.ts';
import { createSnapshot } from './snapshot.ts';
import { createStartOrder } from './start-order.ts';
import { createStructure, type Structure } from './structure.ts';
import type { GraphDescription, WholeGraph } from './wire.ts';

interface Built {
  readonly structure: Structure;
  readonly signals: readonly KnownSignal[];
  readonly errors: readonly SignalError[];
  readonly processes: readonly Record<string, unknown>[];
  readonly staleMs: number;
}

interface Build {
  readonly of: readonly NamedBlock[];
  readonly sources: readonly SignalSource[];
  /** The revision of the program versions that the answers show. */
  readonly versions: number | undefined;
  readonly result: Promise<Built>;
  /** Monotonic time from which the graph is built again, because a source or the build itself failed. */
  staleMs: number;
}

interface KeptAnswer {
  /** Everything that the answer was made from; another value of any makes the answer outdated. */
  readonly basis: readonly unknown[];
  readonly answer: GraphDescription;
}

const MAX_KEPT = 8;

export class Graph implements DependencyGraph {
  readonly #host: Host;
  readonly #signals: Signals;
  #built: Build | undefined;
  #entries: Entries | undefined;
  /** Answers by scope and name; the one that was requested last comes last. */
  readonly #answers = new Map<string, KeptAnswer>();

  constructor(host: Host, own: readonly OwnSignal[]) {
    this.#host = host;
    this.#signals = new Signals(host, own);
  }

  /** Discards the graph, so that the next request builds it again. */
  forget(): void {
    this.#built = undefined;
  }

  async startOrder(): Promise<StartOrder> {
    const { structure, signals } = await this.#current();
    // A relation of a third party delays starts only when the operator has allowed it.
    const ranks = new Map(
      signals
        .filter(
          ({ plugin, strength }) => strength === 'hard_runtime' || (plugin === null && strength !== 'soft_linkage'),
        )
        .map(({ source, rank }) => [source.signal, rank]),
    );
    return createStartOrder(structure, ranks);
  }

  /** Frozen, and the same object within a second unless something that it was made from has changed. */
  async describe(processName: string, scope: string): Promise<GraphDescription> {
    const wanted = scopeOf(scope);
    if (processName.trim() === '') throw new Problem(400, 'process_name is required');
    const built = await this.#current();
    const supervisor = this.#host.find('process.supervisor');
    const templates = this.#host.find('service.templates');
    const basis = [built, this.#host.use('config.store').blocks(), supervisor, supervisor?.revision, templates];
    const key = `${wanted} ${processName}`;
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const kept = this.#answers.get(key);
    const isCurrent = kept?.basis.every((value, index) => value === basis[index]) === true;
    if (isCurrent && kept?.answer.updated_at === now) return kept.answer;
    const made = isCurrent ? kept.answer : await this.#describe(built, processName, wanted);
    const answer = Object.freeze({ ...made, updated_at: now });
    this.#answers.delete(key);
    this.#answers.set(key, { basis, answer });
    const [oldest = key] = this.#answers.keys();
    if (this.#answers.size > MAX_KEPT) this.#answers.delete(oldest);
    return answer;
  }

  /** All processes and edges. Throws a Problem 400 for an unknown scope. */
  async whole(scope: string): Promise<WholeGraph> {
    const wanted = scopeOf(scope);
    const { structure, signals, errors } = await this.#current();
    const strengths = new Map(signals.map(({ source, strength }) => [source.signal, strength]));
    const supervisor = this.#host.find('process.supervisor');
    const edges = [...structure.outgoing.values()].flat();
    return {
      scope: wanted,
      nodes: structure.snapshot.entries.map(({ processName, key, enabled }) => ({
        process_name: processName,
        key,
        enabled,
        state: stateOf([supervisor?.get(processName)?.status], enabled),
      })),
      edges: edgesInScope(edges, wanted, strengths).map(edge => wireEdge(edge, strengths)),
      partial: errors.length > 0,
      ...(errors.length > 0 ? { signal_errors: errors } : {}),
    };
  }

  async #describe(
    { structure, signals, errors, processes }: Built,
    processName: string,
    scope: Scope,
  ): Promise<Omit<GraphDescription, 'updated_at'>> {
    await new Promise(resolve => setImmediate(resolve));
    const target = this.#find(structure.snapshot.entries, processName);
    if (target === undefined) throw unknownProcess(processName);
    const supervisor = this.#host.find('process.supervisor');
    const statuses = new Map(supervisor?.list().map(snapshot => [snapshot.processName, snapshot.status]));
    const status = (name: string) => statuses.get(name);
    const templates = this.#host.find('service.templates');
    const answer = new GraphAnswer(target, scope, { structure, signals, templates, status });
    return {
      ...answer.toWire(),
      dependency_truth_table: signals.filter(isListed(structure)).map(({ source, plugin, strength }) => ({
        signal: source.signal,
        classification: source.classification,
        strength,
        description: source.description,
        source: plugin === null ? 'core' : `plugin:${plugin}`,
      })),
      statuses: Object.fromEntries(statuses),
      processes,
      core_services: this.#coreServices(structure),
      partial: errors.length > 0,
      ...(errors.length > 0 ? { signal_errors: errors } : {}),
    };
  }

  /**
   * Finds an entry by its exact name, otherwise ignoring case, otherwise by a key or display name that only one entry
   * has.
   */
  #find(entries: readonly GraphEntry[], name: string): GraphEntry | undefined {
    const found = this.#host.use('config.store').findBlock(name);
    if (found !== undefined) return entries.find(entry => entry.processName === found.processName);
    const wanted = name.trim().toLowerCase();
    const key = this.#host.find('service.templates')?.find(wanted)?.key ?? wanted;
    const [first, ...others] = entries.filter(entry => entry.key === key);
    return others.length === 0 ? first : undefined;
  }

  #coreServices({ snapshot, needs }: Structure) {
    return (this.#host.find('service.templates')?.list() ?? [])
      .filter(({ relations }) => relations?.core !== undefined)
      .map(({ key, displayName, relations }) => {
        const [entry] = snapshot.entriesOf(key);
        const own = (needs.get(entry?.processName ?? '') ?? []).filter(need => need.signal === 'core_service_map');
        return {
          name: displayName,
          key,
          dependencies: entry === undefined ? (relations?.core?.needs ?? []) : own.map(need => need.key),
        };
      });
  }

  #current(): Promise<Built> {
    const blocks = this.#blocks();
    const versions = this.#host.find('service.versions')?.revision;
    const isCurrent =
      this.#built?.of === blocks &&
      this.#built.versions === versions &&
      this.#signals.isUnchanged(this.#built.sources) &&
      performance.now() < this.#built.staleMs;
    if (this.#built !== undefined && isCurrent) return this.#built.result;
    const build: Build = {
      of: blocks,
      sources: this.#signals.all(),
      versions,
      result: this.#build(blocks),
      staleMs: Number.POSITIVE_INFINITY,
    };
    this.#built = build;
    build.result.then(
      ({ staleMs }) => {
        build.staleMs = staleMs;
      },
      () => {
        build.staleMs = 0;
      },
    );
    return build.result;
  }

  /** A service that was started by hand counts as enabled. */
  #blocks(): readonly NamedBlock[] {
    return this.#host.find('process.supervisor')?.blocks() ?? this.#host.use('config.store').blocks();
  }

  /** Kept while the catalogue and the keys that signals read are the same. */
  #entriesFor(signals: readonly KnownSignal[], templates: ServiceTemplates | undefined): Entries {
    const reads = signals.flatMap(({ source }) => source.reads ?? []);
    if (this.#entries?.isFor(templates, reads) !== true)
      this.#entries = new Entries({
        templates,
        marksOf: block => this.#host.use('config.store').blockMarks(block),
        reads,
      });
    return this.#entries;
  }

  async #build(blocks: readonly NamedBlock[]): Promise<Built> {
    const store = this.#host.use('config.store');
    const templates = this.#host.find('service.templates');
    const signals = this.#signals.known();
    // Yields between the parts of a large graph, so that the event loop is not blocked.
    const shown: NamedBlock[] = [];
    for (const named of blocks) {
      await turnWithTime();
      const block = store.withoutSecrets(named.path) as NamedBlock['block'] | undefined;
      const { enabled } = named.block;
      // The block may have left the configuration meanwhile; the graph is then soon built again.
      if (block !== undefined)
        shown.push({ ...named, block: block.enabled === enabled ? block : { ...block, enabled } });
    }
    const entries = this.#entriesFor(signals, templates);
    const snapshot = createSnapshot({
      revision: store.revision,
      blocks: shown,
      templates,
      routes: new Map(
        this.#host
          .find('service.uis')
          ?.list()
          .map(ui => [ui.name, ui.processName]),
      ),
      entries,
    });
    await turnWithTime();
    const { found, errors, staleMs } = await this.#signals.find(snapshot);
    await turnWithTime();
    const structure = createStructure(snapshot, found);
    await turnWithTime();
    const versions = this.#host.find('service.versions');
    const processes = snapshot.entries.map(entry => ({
      name: entry.processName,
      process_name: entry.processName,
      enabled: entry.enabled,
      key: entry.instance,
      config_key: entry.key,
      version:
        store.findBlock(entry.processName)?.isHost === true
          ? this.#host.version
          : (versions?.of(entry.processName) ?? null),
      config: entries.shown(entry),
    }));
    return { structure, signals, errors, processes, staleMs };
  }
}

function isListed({ outgoing }: Structure): (signal: KnownSignal) => boolean {
  return ({ source: { signal, isHiddenUnused } }) =>
    isHiddenUnused !== true ||
    [...outgoing.values()].some(edges => edges.some(({ signals }) => signals.includes(signal)));
}

function scopeOf(text: string): Scope {
  const wanted = text.trim().toLowerCase();
  if (wanted === 'runtime' || wanted === 'all') return wanted;
  throw new Problem(400, "scope must be 'runtime' or 'all'");
}
