// The requests of the primary that share a fingerprint, as one: what they ask for together.
import { mediaOf } from './fingerprint.ts';
import { type Media, REQUEST_STATUS, type RemoteRequest, union } from './remote-request.ts';

/** `approved` is also what failed or is complete, because it was approved before. */
type Wish = 'approved' | 'pending' | 'declined';

export interface Group extends Media {
  readonly fingerprint: string;
  readonly tvdbId: number | null;
  /** The strongest of its requests. */
  readonly wish: Wish;
  /** All seasons of its live requests. */
  readonly seasons: readonly number[];
  /** Of the first person who asked for what the group wishes. */
  readonly email: string | null;
  /** Sorted, oldest first. */
  readonly ids: readonly number[];
  /** Whether all of its requests are known; of what is not known whole nothing is declined or deleted. */
  readonly isWhole: boolean;
}

const STRENGTH: Readonly<Record<Wish, number>> = { declined: 0, pending: 1, approved: 2 };

/** `requests` is not empty. */
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
