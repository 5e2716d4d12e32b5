// What every subordinate must show after the last change: the decision table of replication, seen from the outside.
import type { MediaKey, ReplicationOptions } from './request-journal.ts';
import { fingerprintOf, type ReplayedJournal } from './request-laws.ts';
import { approvesByAsking, type ManagedRequest, type RequestManager, STATUS } from './request-manager.ts';
import { wishedBy } from './request-wishes.ts';

export interface Quiet {
  readonly primary: RequestManager;
  readonly subordinate: RequestManager;
  readonly options: ReplicationOptions;
  readonly replayed: ReplayedJournal;
}

/** One sentence for each title whose requests on the subordinate are wrong. */
export function unsettled(quiet: Quiet): string[] {
  const { primary, subordinate, options } = quiet;
  const listed = new Set(primary.listed);
  const titles = new Map<string, { readonly key: MediaKey; readonly asked: ManagedRequest[] }>();
  for (const request of [...primary.requests, ...subordinate.requests]) {
    const { mediaType, tmdbId } = request;
    const is4k = request.is4k && options.sync_4k_separately;
    const fingerprint = fingerprintOf(request, options);
    if (!titles.has(fingerprint)) titles.set(fingerprint, { key: { mediaType, tmdbId, is4k }, asked: [] });
  }
  for (const request of primary.requests) titles.get(fingerprintOf(request, options))?.asked.push(request);
  return [...titles].flatMap(([fingerprint, { key, asked }]) => {
    const fault = faultOf(quiet, fingerprint, key, { asked, listed });
    return fault === undefined ? [] : [`${fingerprint} on ${subordinate.name}: ${fault}`];
  });
}

/** `asked`: requests for the title on the primary; `listed`: all requests that the primary's list shows. */
function faultOf(
  quiet: Quiet,
  fingerprint: string,
  key: MediaKey,
  { asked, listed }: { readonly asked: readonly ManagedRequest[]; readonly listed: ReadonlySet<ManagedRequest> },
): string | undefined {
  const { subordinate, options } = quiet;
  // A group that lists hide in part cannot be judged.
  if (asked.some(request => !listed.has(request))) return undefined;
  const { wish, email } = wishedBy(
    asked.map(request => ({ ...request, email: request.requestedBy.email.toLowerCase() })),
  );
  const present = subordinate.requestsOf(key);
  const live = present.filter(({ status }) => status !== STATUS.declined);
  const own = present.filter(({ byPerson, id }) => !byPerson && !quiet.replayed.isUncertain(subordinate.name, id));
  // After a loss of the primary's data, a number may belong to another request, or to a new one for the same title.
  if (quiet.replayed.isLost(fingerprint)) return undefined;
  // While the primary lists no requests at all, nothing is deleted.
  const isHeld = listed.size === 0;
  if (wish === 'absent') return options.sync_deletes && own.length > 0 && !isHeld ? 'is left over' : undefined;
  if (quiet.replayed.isInterfered(subordinate.name, fingerprint)) return undefined;
  if (wish === 'declined') return declinedFault(quiet, own);
  if (wish === 'approved' ? !options.sync_approved : !options.sync_pending) return undefined;
  const isRefused = subordinate.isBlocklisted(key) || !subordinate.knows(key);
  if (subordinate.isAvailable(key) || isRefused) return undefined;
  if (wish === 'pending' && options.pending_without_approval === 'hold' && !canAsk(quiet, email)) return undefined;
  // A request that was declined there before waits for an approval on the primary.
  if (wish === 'pending' && present.some(({ status }) => status === STATUS.declined)) return undefined;
  if (live.length === 0) return 'was not created';
  if (wish === 'approved' && live.every(({ status }) => status === STATUS.pending)) return 'was not approved';
  const wanted = asked.filter(({ status }) => status !== STATUS.declined).flatMap(({ seasons }) => seasons);
  const missing = wanted.filter(season => !live.some(({ seasons }) => seasons.includes(season)));
  return missing.length === 0 ? undefined : `lacks the seasons ${[...new Set(missing)]}`;
}

/** Whether a request of that user stays pending on the subordinate. */
function canAsk({ subordinate, options }: Quiet, email: string | null): boolean {
  const user = subordinate.users.find(user => user.email.toLowerCase() === email);
  return options.user_mapping === 'email_match' && user !== undefined && !approvesByAsking(user.permissions);
}

function declinedFault({ options }: Quiet, own: readonly ManagedRequest[]): string | undefined {
  if (options.sync_declined)
    return own.every(({ status }) => status === STATUS.declined) ? undefined : 'was not declined';
  return options.sync_deletes && own.length > 0 ? 'was declined at the source and not deleted' : undefined;
}
