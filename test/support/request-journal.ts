// What happened at every request manager of a test, in one order: each call, and each thing that people did there by
// hand.
import type { ManagerFault } from './request-manager-fault.ts';

export interface MediaKey {
  readonly mediaType: 'movie' | 'tv';
  readonly tmdbId: number;
  readonly is4k: boolean;
}

/** As in the configuration. */
export interface ReplicationOptions {
  readonly sync_pending: boolean;
  readonly sync_approved: boolean;
  readonly sync_declined: boolean;
  readonly sync_deletes: boolean;
  readonly sync_4k_separately: boolean;
  readonly user_mapping: 'admin' | 'email_match';
  readonly pending_without_approval: 'create' | 'hold';
}

/** What one call, or one person, changed. */
export interface RequestChange extends MediaKey {
  readonly kind: 'created' | 'edited' | 'approved' | 'declined' | 'removed' | 'available' | 'blocklisted';
  readonly id: number;
  readonly status: number;
  /** After the change; of a movie none. */
  readonly seasons: readonly number[];
  /** Whether a person made the request there, in contrast to whoever uses the key. */
  readonly byPerson: boolean;
  /** The owner's, in lower case; empty where a title changed. */
  readonly email: string;
}

/** A request to the public API, below its base path. */
export interface ManagerCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: callers may send bodies of any shape
  readonly body: any;
}

export type JournalEntry =
  | {
      readonly what: 'call';
      readonly manager: string;
      readonly call: ManagerCall;
      /** Null where nothing was answered. */
      readonly status: number | null;
      readonly change?: RequestChange | undefined;
      /** What went wrong, other than slowness. */
      readonly fault?: ManagerFault['kind'] | undefined;
    }
  | { readonly what: 'person'; readonly manager: string; readonly change: RequestChange }
  /** The data of the manager. */
  | { readonly what: 'lost'; readonly manager: string }
  /** From here on these options hold. */
  | { readonly what: 'options'; readonly options: ReplicationOptions }
  /** Whoever replicates was killed; it had saved that these requests are its own, as `<manager> <id> <fingerprint>`. */
  | { readonly what: 'killed'; readonly saved: ReadonlySet<string> };

export type CallEntry = Extract<JournalEntry, { what: 'call' }>;

export class RequestJournal {
  readonly entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.entries.push(entry);
  }

  /** Calls to one manager, or to all; `from` is an index of `entries`. */
  calls(manager?: string, from = 0): CallEntry[] {
    return this.entries
      .slice(from)
      .filter(entry => entry.what === 'call')
      .filter(entry => manager === undefined || entry.manager === manager);
  }
}
