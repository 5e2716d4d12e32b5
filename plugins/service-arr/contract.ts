// The applications of the Arr family: their addresses and API keys, and what other plugins configure in them.
import type { NamedBlock } from '#core';
import type { ArrFacts } from './facts.ts';

export interface ArrInstance {
  readonly block: NamedBlock;
  /** Config key of the application. */
  readonly kind: string;
  /** Facts about its kind, from its template. */
  readonly facts: ArrFacts;
  /** Name of the instance. */
  readonly name: string;
  /** Base URL, including the `UrlBase` of the application's settings, without a trailing slash. */
  readonly address: string;
  readonly apiKey: string;
  /** Config keys of the services to which the instance belongs. */
  readonly links: readonly string[];
}

/**
 * An entry that an application creates from an implementation and its fields, such as a download client or an indexer.
 */
export interface ArrEntry {
  /** Resource of the application's API: `downloadclient`, `applications` or `indexer`. */
  readonly list: string;
  readonly name: string;
  readonly implementation: string;
  /** Name of the application's own template, needed when it has several for one implementation. */
  readonly template?: string;
  /** Values by field name; fields that the application does not have are left out. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Names of fields that identify an entry: an entry with another name but equal values there is the same. */
  readonly address: readonly string[];
  /** Further members of a new entry. */
  readonly initial?: Readonly<Record<string, unknown>>;
  /** Labels that the entry must have; others are kept. */
  readonly tags?: readonly string[];
}

/** A download client of a media manager, on this machine. */
export interface ArrClient {
  readonly name: string;
  readonly implementation: string;
  /** `port` and the credentials, by field name. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The category by which the manager finds its downloads. */
  readonly category: string;
}

/** A service that downloads for media managers: a download client, and a folder for their libraries. */
export interface ArrDownloadService {
  readonly configKey: string;
  /** Folder for the libraries of managers that use this service only; undefined when it has none. */
  readonly libraryFolder?: string;
  /** Whether it downloads torrents, so that its managers get torrent indexers. */
  readonly takesTorrents?: boolean;
  /** Empty while the service lacks something that a client needs. */
  clients(manager: ArrInstance, service: NamedBlock): Promise<readonly ArrClient[]>;
}

/** A service that can be searched. */
export interface ArrIndexer {
  readonly configKey: string;
  entry(service: NamedBlock): Omit<ArrEntry, 'list' | 'initial' | 'tags'>;
}

export interface ArrChange {
  readonly method: 'POST' | 'PUT';
  readonly json: unknown;
}

/** A service that reads the media managers at its start, and must be restarted to learn of new ones. */
export interface ArrConsumer {
  readonly configKey: string;
  /** The managers that the service uses and whose API keys are known. */
  readonly managers: (target: NamedBlock) => Promise<readonly ArrInstance[]>;
}

/** Finds the applications of the Arr family, and reads and changes their settings over their API. */
export interface ArrApplications {
  /** Config keys of the media managers. */
  readonly kinds: readonly string[];
  /** Enabled media managers with a known API key; a manager creates its key at its first start. */
  managers(): Promise<readonly ArrInstance[]>;
  /**
   * The managers that belong to a service. `names` has `<kind>:<instance>` of all of them, with or without a known key.
   */
  linkedTo(key: string): Promise<{ readonly managers: readonly ArrInstance[]; readonly names: ReadonlySet<string> }>;
  /** Records which managers a service reads from its files at the coming start. */
  given(target: NamedBlock, managers: readonly ArrInstance[]): Promise<void>;
  /** Restarts a running service that has not read one of these managers, or has read another address or key of it. */
  renew(target: NamedBlock, managers: readonly ArrInstance[], told: (change: string) => void): Promise<void>;
  /** The instance of a block. Throws an Error while its API key is not known. */
  of(block: NamedBlock): Promise<ArrInstance>;
  /** `<service>-<instance>` in a form suitable for folders and categories; no two instances have the same. */
  slugOf(block: NamedBlock): string;
  /** Calls the API at `path`, such as `tag`. Throws an Error with the application's message. */
  ask(instance: ArrInstance, path: string, change?: ArrChange): Promise<unknown>;
  /**
   * Adds missing entries and corrects different ones; other members of an entry are kept. All entries are tried even
   * when some fail; `told` receives each change. Throws one Error for all failures.
   */
  ensureAll(instance: ArrInstance, entries: readonly ArrEntry[], told: (change: string) => void): Promise<void>;
}

declare module '#core' {
  interface Contributions {
    'arr.consumer': ArrConsumer;
    'arr.download-service': ArrDownloadService;
    'arr.indexer': ArrIndexer;
  }
  interface Services {
    'arr.applications': ArrApplications;
  }
}
