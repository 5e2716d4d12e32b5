// What database-health offers to other plugins: kinds of databases, and where the databases of a service are.
import type { NamedBlock } from '#core';
import type { ConditionEvent } from '../notifications/contract.ts';

/** In `standard` a database is only looked at from outside, in `enhanced` it is opened to read facts about itself. */
export type ProbeMode = 'standard' | 'enhanced';

/** One database of a service, or all that lie below one directory, before it is looked at. */
export interface DatabaseStore {
  /** What the service keeps in it, for example `main`. */
  readonly role: string;
  /** Absolute paths of its file or directory; the first that exists counts. */
  readonly files?: readonly string[];
  /** A directory whose databases at any depth are looked at instead. */
  readonly below?: string;
  /** Its name on a server. */
  readonly name?: string;
  /** How the service reaches its server: `uri`, or `host`, `port`, `user`, `password`, `database`. */
  readonly connection?: Readonly<Record<string, string>>;
  /** Whether it is never opened, whatever the mode. */
  readonly passive?: boolean;
}

/** The file system that a database lies on. */
export interface StorageFacts {
  readonly mountPoint: string;
  readonly fsType: string;
  readonly source: string;
  /** Whether another machine holds it. */
  readonly network: boolean;
  readonly readOnly: boolean;
  readonly totalBytes: number | null;
  readonly freeBytes: number | null;
  readonly usedPercent: number | null;
  readonly totalInodes: number | null;
  readonly freeInodes: number | null;
  readonly inodeUsedPercent: number | null;
}

/**
 * What is known of one database. A kind may add members; on the wire `sizeBytes` is `size_bytes`, and texts are cut and
 * lose their credentials.
 */
export interface DatabaseFacts {
  readonly role: string;
  readonly path?: string;
  readonly name?: string;
  /** null when it cannot be told. */
  readonly exists: boolean | null;
  /** Whether it was opened. */
  readonly enhancedProbe?: boolean;
  readonly sizeBytes?: number;
  readonly walSizeBytes?: number;
  readonly storage?: StorageFacts;
  readonly probeMs?: number;
  /** Why it could not be opened or read. */
  readonly probeError?: string;
  /** Why it cannot be found. */
  readonly error?: string;
  /** What is worth knowing, but no fault. */
  readonly notice?: string;
  readonly lockWaiters?: number;
  /** Since the reading before. */
  readonly deadlocksDelta?: number;
  readonly oldestTransactionSeconds?: number;
  readonly [more: string]: unknown;
}

export interface ProbeRequest {
  readonly service: NamedBlock;
  readonly stores: readonly DatabaseStore[];
  readonly mode: ProbeMode;
}

/** One kind of databases. The key of the contribution is the `engine` that templates name. */
export interface DatabaseProbe {
  /** What clients are told as the provider of a service with such databases. */
  readonly provider: string;
  /** Modes in which it cannot tell whether a database is there, so that not seeing one is no fault. */
  readonly blindIn?: readonly ProbeMode[];
  /** Looks at these databases of one service without changing anything. Never runs twice at once for a service. */
  probe(request: ProbeRequest): Promise<readonly DatabaseFacts[]>;
}

/** Tells where the databases of one kind of service are, where its template cannot. */
export interface ServiceStores {
  readonly configKey: string;
  /** Each with the engine that it belongs to; undefined leaves it to the template. */
  stores(service: NamedBlock): Promise<readonly (DatabaseStore & { readonly engine: string })[] | undefined>;
}

declare module '#core' {
  interface Events {
    /** A database of a service has been under pressure for as long as configured, or is now at its worst. */
    'database.pressure': ConditionEvent;
    /** A database of a service could not be read for as long as configured. */
    'database.collection.failed': ConditionEvent;
  }
  interface Contributions {
    /** One kind of databases, and how such a one is looked at without changing it. */
    'database.probe': DatabaseProbe;
    /** Where the databases of one kind of service are, where its template cannot tell. */
    'database.stores': ServiceStores;
  }
}
