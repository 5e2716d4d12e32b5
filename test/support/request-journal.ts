// What happened at every request manager of a test, in one order: each call, and each thing that people did there by hand.

export interface MediaKey {
  readonly mediaType: 'movie' | 'tv';
  readonly tmdbId: number;
  readonly is4k: boolean;
}

/** What one call, or one person, changed. */
export interface RequestChange extends MediaKey {
  readonly kind: 'created' | 'edited' | 'approved' | 'declined' | 'removed' | 'available';
  readonly id: number;
  /** After the change; of a movie none. */
  readonly seasons: readonly number[];
  /** Whether a person made the request there, in contrast to whoever uses the key. */
  readonly byPerson: boolean;
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
      /** Null where no whole answer was given. */
      readonly status: number | null;
      readonly change?: RequestChange | undefined;
    }
  | { readonly what: 'person'; readonly manager: string; readonly change: RequestChange }
  | { readonly what: 'lost'; readonly manager: string }
  | { readonly what: 'mark'; readonly text: string };

export type CallEntry = Extract<JournalEntry, { what: 'call' }>;

export class RequestJournal {
  readonly entries: JournalEntry[] = [];

  add(entry: JournalEntry): void {
    this.entries.push(entry);
  }

  /** Notes a moment, such as the start of a cycle or a kill. */
  mark(text: string): void {
    this.entries.push({ what: 'mark', text });
  }

  /** Calls to one manager, or to all; `from` is an index of `entries`. */
  calls(manager?: string, from = 0): CallEntry[] {
    return this.entries
      .slice(from)
      .filter(entry => entry.what === 'call')
      .filter(entry => manager === undefined || entry.manager === manager);
  }
}
