// The applications of the Arr family: where each answers, with which key, and what others want to find in it.
import type { NamedBlock } from '#core';
import type { ArrFacts } from './facts.ts';

export interface ArrInstance {
  readonly block: NamedBlock;
  /** Its config key. */
  readonly kind: string;
  /** What its template says of its kind. */
  readonly facts: ArrFacts;
  /** Name of the instance. */
  readonly name: string;
  /** With the URL base of its own settings and without a slash at its end. */
  readonly address: string;
  readonly apiKey: string;
  /** Keys of the services that it belongs to. */
  readonly links: readonly string[];
}

/** Something that an application lets one add by an implementation and its fields: a download client, an indexer. */
export interface ArrEntry {
  /** Where its API has them: `downloadclient`, `applications` or `indexer`. */
  readonly list: string;
  readonly name: string;
  readonly implementation: string;
  /** Name of the application's own template; needed where it has several of one implementation. */
  readonly template?: string;
  /** By name; those that the application does not have are left out. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** An entry of another name is the same one when these fields agree. */
  readonly address: readonly string[];
  /** Members that a new entry has besides. */
  readonly initial?: Readonly<Record<string, unknown>>;
  /** Labels that it has at least. */
  readonly tags?: readonly string[];
}

/** A download client of a media manager, at this machine. */
export interface ArrClient {
  readonly name: string;
  readonly implementation: string;
  /** `port` and what its login needs, by name. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Under which it finds again what it asked for. */
  readonly category: string;
}

/** A service by which media managers get what they want: their download client, and a folder of their library. */
export interface ArrDownloadService {
  readonly configKey: string;
  /** Folder with the libraries of the managers that belong to this service alone; undefined: it has none of its own. */
  readonly libraryFolder?: string;
  /** Indexers of torrents are for it. */
  readonly takesTorrents?: boolean;
  /** None while it does not have what a client needs. */
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

/** A service that reads at its start which media managers there are, and has to start again to learn of another. */
export interface ArrConsumer {
  readonly configKey: string;
  /** Those that it is to know, as far as their keys are known. */
  readonly managers: (target: NamedBlock) => Promise<readonly ArrInstance[]>;
}

/** The media managers and their kin: which there are, and what they are asked and told over their own API. */
export interface ArrApplications {
  /** Config keys of the media managers. */
  readonly kinds: readonly string[];
  /** Enabled media managers whose key is known; each makes its own at its first start. */
  managers(): Promise<readonly ArrInstance[]>;
  /** Managers that belong to a service; `names`: `<kind>:<instance>` of all of them, whether their key is known or not. */
  linkedTo(key: string): Promise<{ readonly managers: readonly ArrInstance[]; readonly names: ReadonlySet<string> }>;
  /** Notes what a service finds in its files at its coming start. */
  given(target: NamedBlock, managers: readonly ArrInstance[]): Promise<void>;
  /** Starts a running service again when it was not given one of these, or another address or key of it. */
  renew(target: NamedBlock, managers: readonly ArrInstance[], told: (change: string) => void): Promise<void>;
  /** Throws an Error while its key is not known. */
  of(block: NamedBlock): Promise<ArrInstance>;
  /** `<service>-<instance>` as a name for folders and categories. */
  slugOf(block: NamedBlock): string;
  /** What its API answers, for example to `tag`. Throws an Error with what the application has to say. */
  ask(instance: ArrInstance, path: string, change?: ArrChange): Promise<unknown>;
  /**
   * Adds what is missing and brings up to date what differs; everything else of an entry stays. Each of them, whatever
   * becomes of the others; `told` hears of each change. Throws one Error for all that failed.
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
