// What every subordinate must show once nothing changes any more: the decision table, seen from the outside.
import type { MediaKey, ReplicationOptions } from './request-journal.ts';
import { fingerprintOf, type ReplayedJournal, wishOf } from './request-laws.ts';
import { type ManagedRequest, type RequestManager, STATUS } from './request-manager.ts';

export interface Quiet {
  readonly primary: RequestManager;
  readonly subordinate: RequestManager;
  readonly options: ReplicationOptions;
  readonly replayed: ReplayedJournal;
}

/** One sentence for each title that is not as it should be. */
export function unsettled(quiet: Quiet): string[] {
  const { primary, subordinate, options } = quiet;
  const keys = new Map<string, MediaKey>();
  for (const request of [...primary.requests, ...subordinate.requests]) {
    const { mediaType, tmdbId } = request;
    const is4k = request.is4k && options.sync_4k_separately;
    keys.set(fingerprintOf(request, options), { mediaType, tmdbId, is4k });
  }
  return [...keys].flatMap(([fingerprint, key]) => {
    const fault = faultOf(quiet, fingerprint, key);
    return fault === undefined ? [] : [`${fingerprint} on ${subordinate.name}: ${fault}`];
  });
}

function faultOf(quiet: Quiet, fingerprint: string, key: MediaKey): string | undefined {
  const { primary, subordinate, options } = quiet;
  const asked = primary.requests.filter(request => fingerprintOf(request, options) === fingerprint);
  // A group of which lists hide a part cannot be judged whole.
  if (asked.some(request => !isListed(primary, request))) return undefined;
  const wish = wishOf(asked.map(({ status }) => status));
  const present = subordinate.requestsOf(key);
  const live = present.filter(({ status }) => status !== STATUS.declined);
  const own = present.filter(({ byPerson, id }) => !byPerson && !quiet.replayed.isUncertain(subordinate.name, id));
  // After a loss of the primary's data a number may lead to another request, or to the same one asked for anew.
  if (quiet.replayed.isLost(fingerprint)) return undefined;
  // A primary that shows nothing at all deletes nothing.
  const isHeld = primary.requests.length === 0;
  if (wish === 'absent') return options.sync_deletes && own.length > 0 && !isHeld ? 'is left over' : undefined;
  if (quiet.replayed.isInterfered(subordinate.name, fingerprint)) return undefined;
  if (wish === 'declined') return declinedFault(quiet, own);
  if (wish === 'approved' ? !options.sync_approved : !options.sync_pending) return undefined;
  const isRefused = subordinate.isBlocklisted(key) || !subordinate.knows(key);
  if (subordinate.isAvailable(key) || isRefused) return undefined;
  if (wish === 'pending' && options.pending_without_approval === 'hold') return undefined;
  // What was declined before waits for an approval.
  if (wish === 'pending' && present.some(({ status }) => status === STATUS.declined)) return undefined;
  if (live.length === 0) return 'was not created';
  if (wish === 'approved' && live.every(({ status }) => status === STATUS.pending)) return 'was not approved';
  const wanted = asked.filter(({ status }) => status !== STATUS.declined).flatMap(({ seasons }) => seasons);
  const missing = wanted.filter(season => !live.some(({ seasons }) => seasons.includes(season)));
  return missing.length === 0 ? undefined : `lacks the seasons ${[...new Set(missing)]}`;
}

function declinedFault({ options }: Quiet, own: readonly ManagedRequest[]): string | undefined {
  if (options.sync_declined)
    return own.every(({ status }) => status === STATUS.declined) ? undefined : 'was not declined';
  return options.sync_deletes && own.length > 0 ? 'was declined at the source and not deleted' : undefined;
}

function isListed(manager: RequestManager, request: ManagedRequest): boolean {
  return (
    manager.product.listed.includes(request.status as never) &&
    !(manager.product.hasBlocklist && manager.isBlocklisted(request))
  );
}
