// A group: all requests of the primary with one fingerprint, and what they ask for together.
import { mediaOf } from './fingerprint.ts';
import { type Media, REQUEST_STATUS, type RemoteRequest, union } from './remote-request.ts';

/** `approved` includes requests that failed or are complete, because they were approved before. */
type Wish = 'approved' | 'pending' | 'declined';

export interface Group extends Media {
  readonly fingerprint: string;
  readonly tvdbId: number | null;
  /** The strongest wish of its requests: approved, then pending, then declined. */
  readonly wish: Wish;
  /** All seasons of its requests that are not declined. */
  readonly seasons: readonly number[];
  /** The e-mail address of the first requester with the group's wish. */
  readonly email: string | null;
  /** The ids of its requests, sorted. */
  readonly ids: readonly number[];
  /** Whether all of its requests are known; otherwise nothing is declined or deleted. */
  readonly isWhole: boolean;
}

const STRENGTH: Readonly<Record<Wish, number>> = { declined: 0, pending: 1, approved: 2 };

/** `requests` must not be empty. */
export function groupOf(fingerprint: string, requests: readonly RemoteRequest[], isWhole: boolean): Group {
  const sorted = requests.toSorted((a, b) => a.id - b.id);
  const wish = sorted.map(wishOf).reduce((a, b) => (STRENGTH[b] > STRENGTH[a] ? b : a));
  const live = sorted.filter(request => wishOf(request) !== 'declined');
  const media = mediaOf(fingerprint);
  if (media === undefined) throw new Error(`'${fingerprint}' is no fingerprint`);
  return {
    ...media,
    fingerprint,
    wish,
    tvdbId: sorted.find(({ tvdbId }) => tvdbId !== null)?.tvdbId ?? null,
    seasons: union(...live.map(({ seasons }) => seasons)),
    email: sorted.find(request => wishOf(request) === wish)?.email ?? null,
    ids: sorted.map(({ id }) => id),
    isWhole,
  };
}

function wishOf({ status }: RemoteRequest): Wish {
  if (status === REQUEST_STATUS.pending) return 'pending';
  return status === REQUEST_STATUS.declined ? 'declined' : 'approved';
}
