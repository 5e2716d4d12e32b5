// Reads the list of requests of the primary page by page: all of it, or what changed since the last reading.
import { RemoteError } from './remote-error.ts';
import type { RemoteRequest } from './remote-request.ts';
import type { Page, RequestManager } from './request-manager.ts';

/** How far back changes are read: one that was being stored during the last reading may have an older time. */
const OVERLAP_MS = 120_000;
/** The greatest number of requests and seasons together in a list, because all of them are kept in memory. */
const MAX_ENTRIES = 250_000;

export interface Reading {
  readonly requests: readonly RemoteRequest[];
  /** The ids of everything that was read, including requests that are not replicated. */
  readonly ids: ReadonlySet<number>;
  /** How many requests the list has in all; null when not even the first page could be read. */
  readonly total: number | null;
  /** Why the reading is incomplete; undefined when it is complete. */
  readonly fault: RemoteError | undefined;
}

/** Reads the whole list. */
export function readList(manager: RequestManager): Promise<Reading> {
  return read(manager, 'added', () => false);
}

/**
 * Reads what changed since `sinceMs` on the primary's clock, in whole pages. A page on which everything is known is the
 * last one, because later pages are older.
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
  const list = new PartialList();
  try {
    for (let skip = 0; !list.isWhole(skip); ) {
      const page = await manager.page(sort, skip);
      list.add(page, skip);
      if (isEnough(page.requests)) break;
      skip += page.length;
    }
    return list.reading();
  } catch (error) {
    if (error instanceof RemoteError) return list.reading(error);
    throw error;
  }
}

/** What was read of a list so far. */
class PartialList {
  readonly #requests: RemoteRequest[] = [];
  readonly #ids = new Set<number>();
  #total: number | null = null;
  #entries = 0;

  /** Whether all is read: a remote that ignores `skip` or `take` may have given the whole list already. */
  isWhole(skip: number): boolean {
    return this.#total !== null && (skip >= this.#total || this.#ids.size >= this.#total);
  }

  /** Adds the page that was read at `skip`. Throws a RemoteError when the list cannot be read to its end. */
  add({ requests, ids, total }: Page, skip: number): void {
    const isShorter = this.#total !== null && total < this.#total;
    this.#total = total;
    this.#requests.push(...requests);
    const known = this.#ids.size;
    for (const id of ids) this.#ids.add(id);
    if (ids.length === 0 && skip < total) throw new RemoteError('answer', 'a page of the list is empty');
    if (ids.length > 0 && this.#ids.size === known)
      throw new RemoteError('answer', 'a page of the list shows nothing but what pages before it have shown');
    this.#entries += requests.reduce((sum, { seasons }) => sum + 1 + seasons.length, 0);
    if (Math.max(total, this.#entries) > MAX_ENTRIES)
      throw new RemoteError('answer', `the list has more than ${MAX_ENTRIES} requests and seasons`);
    // After a deletion the later requests have moved up, some of them to a page that was read before.
    if (isShorter) throw new RemoteError('answer', 'the list became shorter while it was read');
  }

  reading(fault?: RemoteError): Reading {
    return { requests: this.#requests, ids: this.#ids, total: this.#total, fault };
  }
}
