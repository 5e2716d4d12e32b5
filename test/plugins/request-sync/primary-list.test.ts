// The list of the primary is read page by page, also when it shows less than asked, shrinks, grows or repeats itself.
import t from 'tap';
import { readList } from '../../../plugins/request-sync/primary-list.ts';
import type { RemoteRequest } from '../../../plugins/request-sync/remote-request.ts';
import type { RequestManager as Manager } from '../../../plugins/request-sync/request-manager.ts';
import { STATUS } from '../../support/request-manager.ts';
import { ask, MINUTE_MS, stage } from '../../support/request-stage.ts';

t.test('a failed page is read again, and its requests are not taken for removed', async t => {
  const { primary, follower, cycle, sweep, clock, state } = stage({ options: { sync_declined: true } });
  const first = ask(primary, 120);
  primary.faultOf = ({ query }) => (query.get('skip') === '100' ? { kind: 'status', status: 500 } : undefined);
  t.match(await cycle(), { error: /HTTP 500/, hasMore: false });
  t.equal(follower.requests.length, 100, 'what was read goes on');
  t.equal(state.last_poll_ts, null);
  primary.faultOf = () => undefined;
  await cycle();
  t.equal(follower.requests.length, 120, 'the next cycle reads everything');
  t.not(state.last_poll_ts, null);

  // The same title is approved on the failed page and declined on a page that was read.
  const [oldest] = first;
  const again = primary.ask({ mediaType: 'movie', tmdbId: oldest?.tmdbId ?? 0, status: STATUS.pending });
  primary.setStatus(again.id, STATUS.declined);
  primary.remove(first[119]?.id ?? 0);
  clock.nowMs += MINUTE_MS;
  primary.faultOf = ({ query }) => (query.get('skip') === '100' ? { kind: 'status', status: 500 } : undefined);
  await sweep();
  t.equal(follower.requests.filter(({ status }) => status === STATUS.approved).length, 120, 'no decline, no deletion');
  primary.faultOf = () => undefined;
  await cycle();
  t.equal(follower.requests.length, 119);
});

t.test('hidden requests, and a list that shrinks, are not taken for removals', async t => {
  const { primary, follower, cycle, sweep, state } = stage();
  const asked = ask(primary, 120);
  await cycle();
  const hidden = { mediaType: 'movie', tmdbId: 5, is4k: false } as const;
  primary.blocklist(hidden);
  await sweep();
  t.equal(follower.requests.length, 120, 'what the primary still has is not deleted');
  t.equal(state.requests.size, 120);
  let isRemoved = false;
  primary.faultOf = ({ path, query }) => {
    if (path !== '/request' || query.get('skip') !== '100' || isRemoved) return undefined;
    isRemoved = true;
    primary.remove(asked[119]?.id ?? 0);
    return undefined;
  };
  t.match((await sweep()).error, /became shorter/);
  t.equal(follower.requests.length, 120);
  await cycle();
  t.equal(follower.requests.length, 119);
});

t.test('lists with smaller pages than asked for are read whole', async t => {
  const { primary, follower, cycle, sweep } = stage({ options: { user_mapping: 'email_match' } });
  for (const manager of [primary, follower]) manager.faultOf = ({ query }) => void query.set('take', '20');
  const users = Array.from({ length: 50 }, (_, at) => ({ id: at + 2, email: `${at}@example.com`, permissions: 32 }));
  follower.users.push(...users);
  ask(primary, 110);
  const user = { id: 2, email: '49@example.com', permissions: 32 };
  primary.ask({ mediaType: 'movie', tmdbId: 1_000, user });
  t.equal((await cycle()).error, null);
  t.equal(follower.requests.length, 111);
  t.match(follower.requests.at(-1), { requestedBy: { email: user.email } });
  t.equal((await sweep()).error, null);
  t.equal(follower.requests.length, 111);
});

t.test('a list that repeats itself or never ends is given up', async t => {
  const { primary, follower, cycle } = stage();
  ask(primary, 250);
  primary.faultOf = ({ query }) => void query.set('skip', '0');
  t.match((await cycle()).error, /shows nothing but what pages before it have shown/);
  t.equal(follower.requests.length, 100);
  primary.faultOf = () => undefined;
  t.equal((await cycle()).error, null);

  const listOf = async (total: (skip: number) => number, seasons: readonly number[]) => {
    let pages = 0;
    const page: Manager['page'] = async (_sort, skip) => {
      pages += 1;
      const ids = Array.from({ length: 100 }, (_, index) => skip + index + 1);
      return {
        ids,
        length: 100,
        total: total(skip),
        requests: ids.map(id => ({ id, seasons, updatedAtMs: 0 }) as RemoteRequest),
      };
    };
    const { fault } = await readList({ page } as Manager);
    t.match(fault, { message: /more than 250000 requests and seasons/ });
    return pages;
  };
  t.equal(await listOf(() => Number.MAX_SAFE_INTEGER, []), 1, 'not even begun with');
  t.equal(await listOf(skip => skip + 200, []), 2_500, 'one that grows while it is read');
  const seasons = Array.from({ length: 5_000 }, (_, index) => index);
  t.equal(await listOf(() => 1_000, seasons), 1, 'the seasons count too');
});

t.test('without a change few calls are made', async t => {
  const { primary, follower, cycle } = stage();
  ask(primary, 120);
  await cycle();
  await cycle();
  const from = primary.journal.entries.length;
  await cycle();
  const calls = primary.journal
    .calls('primary', from)
    .map(({ call }) => `${call.path}?${call.query.get('sort') ?? ''}`);
  t.same(calls, ['/status?', '/request?modified']);
  const before = follower.journal.calls('follower').length;
  await cycle();
  t.equal(follower.journal.calls('follower').length, before, 'nobody else is asked');
});

t.test('a change behind known requests is found on the next page', async t => {
  const { primary, follower, cycle } = stage();
  const [oldest] = ask(primary, 120);
  await cycle();
  // At the time of all others, so that the order does not reveal it.
  primary.setStatus(oldest?.id ?? 0, STATUS.declined);
  ask(primary, 1, 500);
  await cycle();
  t.equal(follower.requests.length, 120);
  t.same(follower.requestsOf({ mediaType: 'movie', tmdbId: 1, is4k: false }), []);
});
