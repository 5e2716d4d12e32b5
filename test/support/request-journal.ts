// The journal of a test: in one order, all calls to its request managers and all that people change there.
import type { ManagerFault } from './request-manager-fault.ts';

export interface MediaKey {
  readonly mediaType: 'movie' | 'tv';
  readonly tmdbId: number;
  readonly is4k: boolean;
}

/** The options by their names in the configuration. */
export interface ReplicationOptions {
  readonly sync_pending: boolean;
  readonly sync_approved: boolean;
  readonly sync_declined: boolean;
  readonly sync_deletes: boolean;
  readonly sync_4k_separately: boolean;
  readonly user_mapping: 'admin' | 'email_match';
  readonly pending_without_approval: 'create' | 'hold';
}

/** What a call or a person changed. */
export interface RequestChange extends MediaKey {
  readonly kind: 'created' | 'edited' | 'approved' | 'declined' | 'removed' | 'available' | 'blocklisted';
  readonly id: number;
  readonly status: number;
  /** The seasons after the change; empty for a movie. */
  readonly seasons: readonly number[];
  /** Whether the request was made by a person, and not with the API key of the sync. */
  readonly byPerson: boolean;
  /** The owner's address in lower case; empty when a title changed. */
  readonly email: string;
}

/** A call to the public API; the path is relative to its base path. */
export interface ManagerCall {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: callers may send bodies of any shape
  readonly body: any;
}

export type JournalEntry =
  | {
      readonly what: 'call';
      readonly manager: string;
      readonly call: ManagerCall;
      /** Null when nothing was answered. */
      readonly status: number | null;
      readonly change?: RequestChange | undefined;
      /** What went wrong with the call, except slowness. */
      readonly fault?: ManagerFault['kind'] | undefined;
    }
  | { readonly what: 'person'; readonly manager: string; readonly change: RequestChange }
  /** The manager lost its data. */
  | { readonly what: 'lost'; readonly manager: string }
  /** These options hold from here on. */
  | { readonly what: 'options'; readonly options: ReplicationOptions }
  /** The sync was killed. `saved`: the requests that it had saved as its own, as `<manager> <id> <fingerprint>`. */
  | { readonly what: 'killed'; readonly saved: ReadonlySet<string> };

export type CallEntry = Extract<JournalEntry, { what: 'call' }>;

export class RequestJournal {
  readonly entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.entries.push(entry);
  }

  /** Calls to one manager, or to all; `from` is the index of the first entry to consider. */
  calls(manager?: string, from = 0): CallEntry[] {
    return this.entries
      .slice(from)
      .filter(entry => entry.what === 'call')
      .filter(entry => manager === undefined || entry.manager === manager);
  }
}
