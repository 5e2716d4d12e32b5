// What can happen while requests are replicated, as data: acts of people, faults, outages, losses, kills and time.
import fc from 'fast-check';
import type { MediaKey } from './request-journal.ts';
import { type ManagedRequest, type ManagerUser, type RequestManager, STATUS } from './request-manager.ts';
import type { ManagerFault } from './request-manager-fault.ts';

/** 0 is the primary; higher numbers are its subordinates. */
type Place = number;

/** What people do at one request manager. `which` chooses among the requests that are there. */
export type PersonsDeed =
  | {
      readonly kind: 'ask';
      readonly at: Place;
      readonly title: number;
      readonly is4k: boolean;
      readonly seasons: readonly number[];
      readonly isPending: boolean;
      readonly user: number;
    }
  | {
      readonly kind: 'approve' | 'decline' | 'fail' | 'remove' | 'extend';
      readonly at: Place;
      readonly which: number;
      readonly seasons: readonly number[];
    }
  | { readonly kind: 'available' | 'blocklist'; readonly at: Place; readonly title: number; readonly is4k: boolean };

export type Deed =
  | PersonsDeed
  | { readonly kind: 'cycle' }
  /** From the n-th call on, the fault hits as many calls as `times` says. */
  | {
      readonly kind: 'fault';
      readonly at: Place;
      readonly after: number;
      readonly times: number;
      readonly fault: ManagerFault;
    }
  | { readonly kind: 'outage'; readonly at: Place; readonly isDown: boolean }
  | { readonly kind: 'lose'; readonly at: Place }
  | { readonly kind: 'clock'; readonly at: Place; readonly skewMs: number }
  /** Whether the disk is full, so that the state cannot be saved. */
  | { readonly kind: 'disk'; readonly isFull: boolean }
  | { readonly kind: 'pass'; readonly minutes: number }
  /** The sync is killed at the n-th call of the next cycle, to whichever manager. */
  | { readonly kind: 'kill'; readonly after: number }
  | { readonly kind: 'meanwhile'; readonly after: number; readonly deed: PersonsDeed }
  /** Declined requests on the primary that fill pages of its list. */
  | { readonly kind: 'crowd'; readonly count: number };

/**
 * What can go wrong or interfere in a history. Each history has only some of it, so that every law is also tried
 * without the rest.
 */
const TROUBLES = [
  'fault',
  'outage',
  'lose',
  'clock',
  'disk',
  'kill',
  'meanwhile',
  /** People use the subordinates as well. */
  'others',
  'crowd',
] as const;

export const PRIMARY_USERS: readonly ManagerUser[] = [
  { id: 2, email: 'Modest@Example.com', permissions: 32 },
  { id: 3, email: 'trusted@example.com', permissions: 32 | 128 },
  { id: 4, email: 'stranger@example.com', permissions: 32 },
];
/** The same users with other ids and another spelling, except one who does not exist there. */
export const SUBORDINATE_USERS: readonly ManagerUser[] = [
  { id: 3, email: 'MODEST@example.com', permissions: 32 },
  { id: 7, email: 'Trusted@example.com', permissions: 32 | 128 },
];
const TITLES = 6;
const FIRST_TITLE = 600;
/** A title that the last subordinate does not know. */
export const RARE_TITLE = FIRST_TITLE + 4;
const SEASONS = [1, 2, 3, 4];
const FIRST_OF_CROWD = 10_000;
const MINUTE_MS = 60_000;
const STATUS_AFTER = { approve: STATUS.approved, decline: STATUS.declined, fail: STATUS.failed } as const;

export function titleKey(title: number, is4k: boolean): MediaKey {
  return { mediaType: title % 2 === 0 ? 'movie' : 'tv', tmdbId: FIRST_TITLE + title, is4k };
}

/** Does at one request manager what a person does there; nothing if no request fits. */
export function perform(manager: RequestManager, deed: PersonsDeed): void {
  if (deed.kind === 'ask') {
    const { title, is4k, seasons, isPending, user } = deed;
    const key = titleKey(title, is4k);
    if (!manager.knows(key)) return;
    const asker = manager.users[user % manager.users.length];
    const status = isPending ? STATUS.pending : STATUS.approved;
    manager.ask({ ...key, seasons, status, ...(asker === undefined ? {} : { user: asker }) });
    return;
  }
  if ('title' in deed) {
    const key = titleKey(deed.title, deed.is4k);
    if (deed.kind === 'available') manager.makeAvailable(key);
    else manager.blocklist(key);
    return;
  }
  const requests = manager.requests.filter(request => !isOfCrowd(request));
  const request = requests[deed.which % requests.length];
  if (request === undefined) return;
  if (deed.kind === 'remove') manager.remove(request.id);
  else if (deed.kind !== 'extend') manager.setStatus(request.id, STATUS_AFTER[deed.kind]);
  else if (request.mediaType === 'tv') manager.addSeasons(request.id, deed.seasons);
}

/** Adds declined requests, which are replicated nowhere. */
export function crowd(manager: RequestManager, count: number): void {
  const from = FIRST_OF_CROWD + manager.requests.length;
  for (let tmdbId = from; tmdbId < from + count; tmdbId += 1)
    manager.ask({ mediaType: 'movie', tmdbId, status: STATUS.declined });
}

function isOfCrowd({ tmdbId }: ManagedRequest): boolean {
  return tmdbId >= FIRST_OF_CROWD;
}

const CHANGES = ['approve', 'approve', 'decline', 'decline', 'remove', 'remove', 'extend', 'extend', 'fail'] as const;
const number = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const seasons = fc.subarray(SEASONS, { minLength: 1 });
/** A request for a series without seasons asks for all of them. */
const askedSeasons = fc.oneof({ weight: 6, arbitrary: seasons }, { weight: 1, arbitrary: fc.constant([]) });

/** Acts of people at the first `places`, mostly at the primary. */
function personsDeed(places: number): fc.Arbitrary<PersonsDeed> {
  const at = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: number(places - 1) });
  const which = number(20);
  const title = number(TITLES - 1);
  const is4k = fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
  const ask = fc.record({
    kind: fc.constant('ask' as const),
    at,
    title,
    is4k,
    seasons: askedSeasons,
    isPending: fc.boolean(),
    user: number(3),
  });
  const change = fc.record({
    kind: fc.constantFrom<'approve' | 'decline' | 'fail' | 'remove' | 'extend'>(...CHANGES),
    at,
    which,
    seasons,
  });
  const media = fc.record({
    kind: fc.constantFrom<'available' | 'blocklist'>('available', 'available', 'blocklist'),
    at: number(places - 1),
    title,
    is4k,
  });
  return fc.oneof({ weight: 10, arbitrary: ask }, { weight: 14, arbitrary: change }, { weight: 3, arbitrary: media });
}

const fault: fc.Arbitrary<ManagerFault> = fc.oneof(
  fc.constantFrom<ManagerFault>({ kind: 'html' }, { kind: 'garbled' }, { kind: 'hang' }),
  fc.constantFrom<ManagerFault>({ kind: 'busy' }, { kind: 'busy', retryAfter: '3' }),
  fc.constantFrom(400, 401, 403, 404, 500, 502, 503, 504).map(status => ({ kind: 'status' as const, status })),
  fc.boolean().map(isActedOn => ({ kind: 'reset' as const, isActedOn })),
  fc.constant<ManagerFault>({ kind: 'redirect', origin: 'http://elsewhere.test' }),
  fc.constant<ManagerFault>({ kind: 'slow', ms: 20 }),
);

/** `places` counts the primary and its subordinates. */
export function deeds(places: number): fc.Arbitrary<Deed[]> {
  return fc.subarray([...TROUBLES]).chain(troubles => {
    const weigh = (trouble: (typeof TROUBLES)[number], weight: number) => (troubles.includes(trouble) ? weight : 0);
    const at = number(places - 1);
    const persons = personsDeed(troubles.includes('others') ? places : 1);
    // A change with an older time than the newest that was read is not on the first page of a long list, and no further
    // page is read.
    const clockAt = troubles.includes('crowd') ? fc.integer({ min: 1, max: places - 1 }) : at;
    const deed = fc.oneof<fc.WeightedArbitrary<Deed>[]>(
      { weight: 12, arbitrary: persons },
      { weight: 8, arbitrary: fc.constant({ kind: 'cycle' as const }) },
      {
        weight: weigh('fault', 4),
        arbitrary: fc.record({
          kind: fc.constant('fault' as const),
          at,
          after: number(12),
          times: fc.constantFrom(1, 1, 2, 4, 20),
          fault,
        }),
      },
      {
        weight: weigh('outage', 2),
        arbitrary: fc.record({ kind: fc.constant('outage' as const), at, isDown: fc.boolean() }),
      },
      // After the primary loses its data few laws apply to its titles, so that is rare.
      {
        weight: weigh('lose', 1),
        arbitrary: fc.record({ kind: fc.constant('lose' as const), at: fc.constantFrom(...losable(places)) }),
      },
      {
        weight: weigh('clock', 1),
        arbitrary: fc.record({
          kind: fc.constant('clock' as const),
          at: clockAt,
          skewMs: fc.constantFrom(-86_400_000, 0, 86_400_000),
        }),
      },
      {
        weight: weigh('disk', 1),
        arbitrary: fc.record({ kind: fc.constant('disk' as const), isFull: fc.boolean() }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('pass' as const), minutes: fc.constantFrom(1, 5, 20, 1_500) }),
      },
      {
        weight: weigh('kill', 2),
        arbitrary: fc.record({ kind: fc.constant('kill' as const), after: number(30) }),
      },
      {
        weight: weigh('meanwhile', 3),
        arbitrary: fc.record({ kind: fc.constant('meanwhile' as const), after: number(30), deed: persons }),
      },
      {
        weight: weigh('crowd', 1),
        arbitrary: fc.record({ kind: fc.constant('crowd' as const), count: fc.constantFrom(99, 100, 130) }),
      },
    );
    return fc.array(deed, { minLength: 1, maxLength: 60, size: 'max' });
  });
}

/**
 * What a person does at the primary while nothing goes wrong, and how many declined requests follow. The next cycle
 * must see it.
 */
export interface QuietDeed {
  readonly deed: PersonsDeed;
  readonly crowd: number;
}

export const quietDeeds: fc.Arbitrary<QuietDeed[]> = fc.array(
  fc.record({ deed: personsDeed(1), crowd: fc.constantFrom(0, 0, 0, 0, 0, 130) }),
  { maxLength: 4 },
);

function losable(places: number): Place[] {
  return [0, ...Array.from({ length: places * 4 }, (_, index) => 1 + (index % (places - 1)))];
}

export function minutesMs(minutes: number): number {
  return minutes * MINUTE_MS;
}
