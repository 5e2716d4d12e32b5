// What the graph receives from signal sources, and what it offers to plugins that order starts and stops.
import type { GraphDescription } from './wire.ts';

export type Classification = 'hard' | 'linkage';
export type Strength = 'hard_runtime' | 'hard_configured' | 'soft_linkage';
export type Scope = 'runtime' | 'all';

/** One configured process, as signal sources see it. */
export interface GraphEntry {
  readonly processName: string;
  /** Configuration key, in lower case. */
  readonly key: string;
  /** Name of the instance; equals the key for a service without instances. */
  readonly instance: string;
  readonly enabled: boolean;
  /** The members of its block that signals may read; never contains a secret. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ports on which it listens. */
  readonly ports: readonly number[];
  /** Paths at which it mounts file systems. */
  readonly readMounts: readonly string[];
  /** Keys of the services that its `core_service` and `core_services` name. */
  readonly coreRefs: readonly string[];
}

/** All entries of one revision of the configuration, frozen, with the look-ups that signal sources need. */
export interface GraphSnapshot {
  readonly revision: string;
  readonly entries: readonly GraphEntry[];
  entriesOf(key: string): readonly GraphEntry[];
  /** Whether each core service has an instance of this component of its own, as with a mount. */
  isScoped(key: string): boolean;
  /** Keys of the components that this core service always needs, with its present block. */
  coreNeeds(entry: GraphEntry): readonly string[];
  /**
   * Entries that this entry is documented to work with by a soft signal, which is a hint and never a reason to wait.
   */
  softLinks(signal: string, entry: GraphEntry): readonly GraphEntry[];
  /** Entries to which a reference in the block of `from` refers: a key, a process name or a route name. */
  resolve(reference: string, from: GraphEntry): readonly GraphEntry[];
  /** Entries that a wait names in `core_service`, `core_services`, `service` or `process_name`. */
  namedBy(wait: Readonly<Record<string, unknown>>, from: GraphEntry): readonly GraphEntry[];
  /** Enabled listeners on a local port; without any, the disabled one if there is only one. */
  listenersOn(port: number, from: GraphEntry): readonly GraphEntry[];
  /**
   * Providers of a path: of the mount itself, otherwise of the nearest mount above it, otherwise of mounts below it.
   */
  providersOf(path: string, from: GraphEntry): readonly GraphEntry[];
}

/** `dependency` must be up before `dependent`. Both are process names. */
export interface Relation {
  readonly dependency: string;
  readonly dependent: string;
}

/** A process needs another kind of service, represented by `members`; without members that service is missing. */
export interface KeyNeed {
  readonly dependent: string;
  readonly key: string;
  readonly members: readonly string[];
  /** Whether this only adds its signal to relations that other signals have established. Default false. */
  readonly onlyAnnotates?: boolean;
}

export interface SignalFindings {
  readonly relations?: readonly Relation[];
  readonly needs?: readonly KeyNeed[];
}

/** What a source returns; a list stands for findings with these relations and no needs. */
export type SignalResult = SignalFindings | readonly Relation[];

/** One way to find out that a service needs another. */
export interface SignalSource {
  /**
   * Matches `^[a-z][a-z0-9_]{2,47}$`. For third parties it is the plugin's name without a leading `signal-` and with
   * `_` in place of `-`, or begins with that and `_`.
   */
  readonly signal: string;
  readonly classification: Classification;
  /**
   * `hard_runtime` of a third party counts as `hard_configured`, and so holds no start up, unless
   * `dumb.dependency_graph.startup_blocking` names its plugin.
   */
  readonly strength: Strength;
  readonly description: string;
  /** Further members of blocks that the source reads. Members that are secrets are never given to it. */
  readonly reads?: readonly string[];
  /** Whether clients see its row of the truth table only while it has found something. Default false. */
  readonly isHiddenUnused?: boolean;
  /** Called once for each revision of the configuration. All third parties together have 250 ms. */
  find(snapshot: GraphSnapshot): SignalResult | Promise<SignalResult>;
}

export interface StartOrder {
  /** The enabled processes after which each enabled process starts; free of cycles. */
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Process names of the cycles that were broken: the first 20. */
  readonly cycles: readonly (readonly string[])[];
}

/** Which process needs which, and why, as the configuration is now. */
export interface DependencyGraph {
  /** The start order of enabled entries, from hard relations. */
  startOrder(): Promise<StartOrder>;
  /** Must be called when something other than the configuration that a source reads has changed. */
  forget(): void;
  /** The answer of the route. Throws a Problem 400 or 404. */
  describe(processName: string, scope: string): Promise<GraphDescription>;
}

declare module '#core' {
  interface Contributions {
    'dependency.signal': SignalSource;
  }
  interface Services {
    'dependency.graph': DependencyGraph;
  }
}
