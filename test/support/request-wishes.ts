// What the requests of one fingerprint ask for together, by the statuses of the public API.
import type { RequestChange } from './request-journal.ts';
import { STATUS } from './request-manager.ts';

export type Wish = 'approved' | 'pending' | 'declined' | 'absent';

export interface Wished {
  readonly wish: Wish;
  /** Of all that are not declined; undefined where the primary lists none, which asks for all of them. */
  readonly seasons: readonly number[] | undefined;
  /** Whose the replicated request becomes where people are mapped; in lower case, null where nothing is asked for. */
  readonly email: string | null;
}

/** A fingerprint that the primary has no request of. */
export const NOTHING_WISHED: Wished = { wish: 'absent', seasons: [], email: null };

/** `requests` in any order. */
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

/** The strongest of the statuses. */
function wishOf(statuses: readonly number[]): Wish {
  if (statuses.length === 0) return 'absent';
  if (statuses.some(status => status !== STATUS.pending && status !== STATUS.declined)) return 'approved';
  return statuses.includes(STATUS.pending) ? 'pending' : 'declined';
}
