// What the requests of one fingerprint ask for together, from their statuses in the public API.
import type { RequestChange } from './request-journal.ts';
import { STATUS } from './request-manager.ts';

export type Wish = 'approved' | 'pending' | 'declined' | 'absent';

export interface Wished {
  readonly wish: Wish;
  /** The seasons of all requests that are not declined. Undefined when they name none, which asks for all seasons. */
  readonly seasons: readonly number[] | undefined;
  /**
   * The address, in lower case, of the user who becomes the owner when users are mapped. Null when there is no request.
   */
  readonly email: string | null;
}

/** The wish for a title of which the primary has no request. */
export const NOTHING_WISHED: Wished = { wish: 'absent', seasons: [], email: null };

/** `requests` may be in any order. */
export function wishedBy(requests: readonly Pick<RequestChange, 'id' | 'status' | 'seasons' | 'email'>[]): Wished {
  const sorted = requests.toSorted((a, b) => a.id - b.id);
  const wish = wishOf(sorted.map(({ status }) => status));
  const live = sorted.filter(({ status }) => status !== STATUS.declined).flatMap(({ seasons }) => seasons);
  return {
    wish,
    seasons: live.length === 0 ? undefined : live,
    email: sorted.find(({ status }) => wishOf([status]) === wish)?.email ?? null,
  };
}

/** The strongest wish among the statuses. */
function wishOf(statuses: readonly number[]): Wish {
  if (statuses.length === 0) return 'absent';
  if (statuses.some(status => status !== STATUS.pending && status !== STATUS.declined)) return 'approved';
  return statuses.includes(STATUS.pending) ? 'pending' : 'declined';
}
