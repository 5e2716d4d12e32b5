// What database-health offers to other plugins: kinds of databases, and where the databases of a service are.
import type { NamedBlock } from '#core';
import type { ConditionEvent } from '../notifications/contract.ts';

/** In `standard` only the files of a database are looked at, in `enhanced` it is opened to read facts from it. */
export type ProbeMode = 'standard' | 'enhanced';

/** One database of a service, or all that lie below one directory, before it is looked at. */
export interface DatabaseStore {
  /** What the service keeps in this database, for example `main`. */
  readonly role: string;
  /** Absolute paths where its file or directory may be; the first that exists counts. */
  readonly files?: readonly string[];
  /** A directory; if set, the databases at any depth in it are looked at instead of `files`. */
  readonly below?: string;
  /** Name of the database on its server. */
  readonly name?: string;
  /** How the service reaches its server: `uri`, or `host`, `port`, `user`, `password`, `database`. */
  readonly connection?: Readonly<Record<string, string>>;
  /** Whether the database is never opened, whatever the mode. */
  readonly passive?: boolean;
}

/** The file system that a database lies on. */
export interface StorageFacts {
  readonly mountPoint: string;
  readonly fsType: string;
  readonly source: string;
  /** Whether the file system is on another machine. */
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
 * What is known about one database. A probe may add members. On the wire names are in snake case (`size_bytes`), and
 * texts other than paths are shortened and have no credentials.
 */
export interface DatabaseFacts {
  readonly role: string;
  readonly path?: string;
  readonly name?: string;
  /** null when that cannot be determined. */
  readonly exists: boolean | null;
  /** Whether the database was opened. */
  readonly enhancedProbe?: boolean;
  readonly sizeBytes?: number;
  readonly walSizeBytes?: number;
  readonly storage?: StorageFacts;
  readonly probeMs?: number;
  /** Why the database could not be opened or read. */
  readonly probeError?: string;
  /** Why the database was not found. */
  readonly error?: string;
  /** A remark that is no fault. */
  readonly notice?: string;
  readonly lockWaiters?: number;
  /** New deadlocks since the previous reading. */
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
  /** The provider that clients are shown for a service with such databases. */
  readonly provider: string;
  /** Modes in which the probe cannot determine whether a database exists, so that a missing one is no fault. */
  readonly blindIn?: readonly ProbeMode[];
  /** Looks at databases of one service without changing anything. Not called again for a service during a call. */
  probe(request: ProbeRequest): Promise<readonly DatabaseFacts[]>;
}

/** Says where the databases of one kind of service are, if its template cannot. */
export interface ServiceStores {
  readonly configKey: string;
  /** Each database with its engine; undefined when the template is to be used. */
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
    /** A probe for one kind of databases, which looks at them without changing them. */
    'database.probe': DatabaseProbe;
    /** Where the databases of one kind of service are, if its template cannot say. */
    'database.stores': ServiceStores;
  }
}
