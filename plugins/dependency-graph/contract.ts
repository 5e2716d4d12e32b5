// What the graph takes from signal sources, and what it gives to whoever orders starts and stops.
import type { GraphDescription } from './wire.ts';

export type Classification = 'hard' | 'linkage';
export type Strength = 'hard_runtime' | 'hard_configured' | 'soft_linkage';
export type Scope = 'runtime' | 'all';

/** One configured process as signal sources see it. */
export interface GraphEntry {
  readonly processName: string;
  /** Configuration key, lower case. */
  readonly key: string;
  /** Name of the instance; the key for a service without instances. */
  readonly instance: string;
  readonly enabled: boolean;
  /** The members of its block that relations are read from; never a secret. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ports it listens on. */
  readonly ports: readonly number[];
  /** Where it mounts something. */
  readonly readMounts: readonly string[];
  /** Keys of the services that it names in `core_service` and `core_services`. */
  readonly coreRefs: readonly string[];
}

/** All entries of one revision of the configuration, frozen, and how they are found. */
export interface GraphSnapshot {
  readonly revision: string;
  readonly entries: readonly GraphEntry[];
  entriesOf(key: string): readonly GraphEntry[];
  /** Whether a component belongs to one core service each, as a mount does. */
  isScoped(key: string): boolean;
  /** Keys of the components that this kind of core service always needs, as it is configured now. */
  coreNeeds(entry: GraphEntry): readonly string[];
  /** Entries that this kind of service goes with by a soft signal: a hint, never a reason to wait. */
  softLinks(signal: string, entry: GraphEntry): readonly GraphEntry[];
  /** Entries that a reference made by `from` means: a key, a process name or a route name. */
  resolve(reference: string, from: GraphEntry): readonly GraphEntry[];
  /** Entries that a wait names in `core_service`, `core_services`, `service` or `process_name`. */
  namedBy(wait: Readonly<Record<string, unknown>>, from: GraphEntry): readonly GraphEntry[];
  /** Enabled listeners of a local port; where there are none, the only disabled one. */
  listenersOn(port: number, from: GraphEntry): readonly GraphEntry[];
  /** Providers of a path: of the mount itself, else of the nearest above, else of those below. */
  providersOf(path: string, from: GraphEntry): readonly GraphEntry[];
}

/** `dependency` must be up before `dependent`. Both are process names. */
export interface Relation {
  readonly dependency: string;
  readonly dependent: string;
}

/** A service needs another kind of service, of which these processes count. None: it is missing. */
export interface KeyNeed {
  readonly dependent: string;
  readonly key: string;
  readonly members: readonly string[];
  /** true: it adds to relations that other signals established, and makes none of its own. */
  readonly onlyAnnotates?: boolean;
}

export interface SignalFindings {
  readonly relations?: readonly Relation[];
  readonly needs?: readonly KeyNeed[];
}

/** One way to tell that a service needs another. */
export interface SignalSource {
  /** `^[a-z][a-z0-9_]{2,47}$`; of a third party it begins with the plugin's name and `_`. */
  readonly signal: string;
  readonly classification: Classification;
  readonly strength: Strength;
  readonly description: string;
  /** Members of a block that it reads besides those every source sees. Secrets are left out. */
  readonly reads?: readonly string[];
  /**
   * Called once for each revision of the configuration. Third parties together have 250 ms; of them a list of relations
   * alone is taken too.
   */
  find(snapshot: GraphSnapshot): SignalFindings | Promise<SignalFindings>;
}

export interface StartOrder {
  /** Enabled processes that each enabled process starts after. Free of cycles. */
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Process names of each cycle that was broken. */
  readonly cycles: readonly (readonly string[])[];
}

/** Which process needs which, and why, as the configuration is now. */
export interface DependencyGraph {
  /** Among enabled entries, by hard relations. */
  startOrder(): Promise<StartOrder>;
  /** Something besides the configuration that a source reads has changed. */
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
