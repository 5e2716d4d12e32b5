// Reads the primary's list of requests, page by page: all of it, or what changed since it was last read.
import { RemoteError } from './remote-error.ts';
import type { RemoteRequest } from './remote-request.ts';
import type { RequestManager } from './request-manager.ts';

/** Changes that were being stored during the last read may have an older time than its newest. */
const OVERLAP_MS = 120_000;
/** Of a list, all of which is kept: its requests and their seasons together. */
const MAX_ENTRIES = 250_000;

export interface Reading {
  readonly requests: readonly RemoteRequest[];
  /** Of everything that was read, also of what is replicated nowhere. */
  readonly ids: ReadonlySet<number>;
  /** How many requests the list has in all; null where not even the first page could be read. */
  readonly total: number | null;
  /** Why the reading is not whole; undefined when it is. */
  readonly fault: RemoteError | undefined;
}

/** The whole list. */
export function readList(manager: RequestManager): Promise<Reading> {
  return read(manager, 'added', () => false);
}

/**
 * What changed since `sinceMs` on the primary's clock, and the rest of the pages on which that stands. A page that
 * shows nothing but what is known is the last one, because what follows it is older.
 */
export function readChanges(
  manager: RequestManager,
  sinceMs: number,
  isKnown: (request: RemoteRequest) => boolean,
): Promise<Reading> {
  const isOld = ({ updatedAtMs }: RemoteRequest) => updatedAtMs > 0 && updatedAtMs < sinceMs - OVERLAP_MS;
  return read(manager, 'modified', requests => requests.some(isOld) || requests.every(isKnown));
}

async function read(
  manager: RequestManager,
  sort: 'added' | 'modified',
  isEnough: (requests: readonly RemoteRequest[]) => boolean,
): Promise<Reading> {
  const requests: RemoteRequest[] = [];
  const ids = new Set<number>();
  let total: number | null = null;
  let entries = 0;
  const reading = (fault?: RemoteError): Reading => ({ requests, ids, total, fault });
  for (let skip = 0; ; ) {
    // Who ignores what is asked for may have shown all of it.
    if (total !== null && (skip >= total || ids.size >= total)) return reading();
    try {
      const page = await manager.page(sort, skip);
      const isShorter: boolean = total !== null && page.total < total;
      total = page.total;
      requests.push(...page.requests);
      const known = ids.size;
      for (const id of page.ids) ids.add(id);
      if (page.ids.length === 0 && skip < total) throw new RemoteError('answer', 'a page of the list is empty');
      if (page.ids.length > 0 && ids.size === known)
        throw new RemoteError('answer', 'a page of the list shows nothing but what pages before it have shown');
      entries += page.requests.reduce((sum, { seasons }) => sum + 1 + seasons.length, 0);
      if (Math.max(total, entries) > MAX_ENTRIES)
        throw new RemoteError('answer', `the list has more than ${MAX_ENTRIES} requests and seasons`);
      // What follows a deleted request has moved to a page that was read before.
      if (isShorter) throw new RemoteError('answer', 'the list became shorter while it was read');
      if (isEnough(page.requests)) return reading();
      skip += page.length;
    } catch (error) {
      if (error instanceof RemoteError) return reading(error);
      throw error;
    }
  }
}
