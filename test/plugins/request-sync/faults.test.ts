// What each fault of a request manager leads to, with managers and a network in process, so that time is the test's
// own.
import t from 'tap';
import { WorkQueue } from '../../../core/kit/work-queue.ts';
import { Cycles } from '../../../plugins/request-sync/cycles.ts';
import { HttpRequestManager } from '../../../plugins/request-sync/http-request-manager.ts';
import { readList } from '../../../plugins/request-sync/primary-list.ts';
import type { RemoteRequest } from '../../../plugins/request-sync/remote-request.ts';
import type { RequestManager as Manager } from '../../../plugins/request-sync/request-manager.ts';
import { syncSection } from '../../../plugins/request-sync/settings.ts';
import { emptyState, type State } from '../../../plugins/request-sync/state.ts';
import { RequestManager, STATUS } from '../../support/request-manager.ts';
import { managerNetwork } from '../../support/request-manager-network.ts';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

interface StageOptions {
  readonly options?: object;
  readonly state?: State;
  readonly primary?: RequestManager;
  readonly follower?: RequestManager;
  readonly turnMs?: number;
}

/** A primary and one subordinate; each call of `cycle` is one cycle of the same replication. */
function stage({ options = {}, state = emptyState(), turnMs, ...managers }: StageOptions = {}) {
  const clock = { nowMs: Date.parse('2026-01-01T00:00:00Z') };
  const made = (name: string) => new RequestManager({ name, clock: () => clock.nowMs });
  const primary = managers.primary ?? made('primary');
  const follower = managers.follower ?? made('follower');
  const saves = { isFull: false, count: 0 };
  const network = managerNetwork(
    new Map([
      [`http://${primary.name}`, primary],
      [`http://${follower.name}`, follower],
    ]),
    async () => undefined,
  );
  const peer = ({ name, apiKey }: RequestManager) => {
    const address = `http://${name}`;
    const host = { fetch: network.fetch as never, paced: () => 0 };
    const lane = new WorkQueue({ concurrency: 1 });
    return {
      label: address,
      address,
      manager: new HttpRequestManager({ host, address, apiKey, lane, stopping: never, signal: never }),
    };
  };
  const save = async () => {
    if (saves.isFull) throw new Error('no space left');
    saves.count += 1;
  };
  const subordinates = [peer(follower)];
  const cycles = new Cycles({
    state,
    settings: { ...syncSection.parse({}).options, ...options },
    primary: peer(primary),
    subordinates,
    labels: subordinates.map(({ label }) => label),
    save,
    saveCycle: save,
    changed: save,
    nowMs: () => clock.nowMs,
    ...(turnMs === undefined ? {} : { turnMs }),
  });
  const writes = () => follower.journal.calls(follower.name).filter(({ call }) => call.method !== 'GET');
  return {
    state,
    clock,
    primary,
    follower,
    saves,
    writes,
    cycle: () => cycles.run(),
    /** A cycle in which the whole list is read. */
    sweep: () => {
      clock.nowMs += 15 * MINUTE_MS;
      return cycles.run();
    },
    held: (fingerprint: string) => state.requests.get(fingerprint)?.subordinates[`http://${follower.name}`],
  };
}

const ask = (manager: RequestManager, count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => manager.ask({ mediaType: 'movie', tmdbId: first + index }));

t.test('the primary is down, refuses the key, or shows a login page', async t => {
  const { primary, follower, cycle, state } = stage();
  ask(primary, 2);
  await cycle();
  const before = JSON.stringify([...state.requests]);
  const lastPoll = state.last_poll_ts;
  primary.loseData();
  for (const [what, fault, error] of [
    ['a login page', () => ({ kind: 'html' }) as const, /no version/],
    ['garbled', () => ({ kind: 'garbled' }) as const, /cannot be read/],
    ['502', () => ({ kind: 'status', status: 502 }) as const, /HTTP 502/],
    [
      '403',
      ({ path }: { path: string }) => (path === '/status' ? undefined : ({ kind: 'status', status: 403 } as const)),
      /refuses its key/,
    ],
    ['reset', () => ({ kind: 'reset', isActedOn: false }) as const, /closed before/],
  ] as const) {
    primary.faultOf = fault;
    t.match((await cycle()).error, error, what);
  }
  primary.isDown = true;
  t.match((await cycle()).error, /connection refused/);
  t.same([JSON.stringify([...state.requests]), state.last_poll_ts], [before, lastPoll], 'everything is as it was');
  t.equal(follower.requests.length, 2);
});

t.test('one page of the primary fails', async t => {
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

  // The same title, approved on the page that fails and declined on one that is read.
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

t.test('a list that hides requests, or shrinks while it is read', async t => {
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

t.test('lists that show less at once than they are asked for', async t => {
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

t.test('the primary has lost its data', async t => {
  const { primary, follower, cycle, sweep } = stage();
  ask(primary, 30);
  await cycle();
  primary.loseData();
  for (const _ of [1, 2, 3, 4]) t.match((await sweep()).warnings, [/shows no requests at all/]);
  t.equal(follower.requests.length, 30);
  ask(primary, 2, 100);
  t.match((await cycle()).warnings, [/28 requests are missing/], 'two numbers are used again');
  t.equal(follower.requests.length, 32, 'creations go on');
  await sweep();
  t.equal(follower.requests.length, 32);
  await sweep();
  t.equal(follower.requests.length, 4, 'three looks agreed; what the primary answers for stays');
});

t.test('another primary deletes nothing', async t => {
  const first = stage();
  ask(first.primary, 5);
  await first.cycle();
  const another = new RequestManager({ name: 'another' });
  ask(another, 2);
  const second = stage({ state: first.state, primary: another, follower: first.follower });
  await second.cycle();
  t.equal(first.follower.requests.length, 5);
  t.same(
    [...first.state.requests.keys()],
    ['movie:1:False', 'movie:2:False'],
    'the others are left to the subordinate',
  );
  t.same(first.state.requests.get('movie:1:False')?.primary_ids, [1]);
});

t.test('the primary goes away while it is asked what is missing', async t => {
  const { primary, follower, cycle, sweep } = stage();
  const asked = ask(primary, 10);
  await cycle();
  for (const { id } of asked.slice(0, 8)) primary.remove(id);
  primary.faultOf = ({ path }) => {
    if (/^\/request\/\d/.test(path)) primary.isDown = true;
    return primary.isDown ? { kind: 'reset', isActedOn: false } : undefined;
  };
  const from = primary.journal.entries.length;
  await sweep();
  t.equal(follower.requests.length, 10);
  const calls = primary.journal.calls('primary', from).filter(({ call }) => /^\/request\/\d/.test(call.path));
  t.equal(calls.length, 1, 'one call tells that nobody is there');
  primary.isDown = false;
  primary.faultOf = () => undefined;
  await sweep();
  t.equal(follower.requests.length, 2);
});

t.test('a subordinate is down while requests are deleted', async t => {
  const { primary, follower, cycle, sweep, state } = stage();
  const asked = ask(primary, 3);
  await cycle();
  follower.isDown = true;
  primary.remove(asked[0]?.id ?? 0);
  ask(primary, 1, 10);
  t.match(await sweep(), { error: null, warnings: [/not ready/] });
  t.equal(state.failed.size, 0, 'an outage is no failure');
  t.equal(state.requests.get('movie:1:False')?.deleted, true, 'the deletion is remembered');
  follower.isDown = false;
  await cycle();
  t.same(
    follower.requests.map(({ tmdbId }) => tmdbId),
    [2, 3, 10],
  );
  t.notOk(state.requests.has('movie:1:False'));
});

t.test('an outage in the middle, and a single loss', async t => {
  const { primary, follower, cycle, state, writes } = stage();
  ask(primary, 10);
  let left = 3;
  follower.faultOf = ({ method }) => {
    if (method === 'POST') left -= 1;
    if (left < 0) follower.isDown = true;
    return left < 0 ? { kind: 'reset', isActedOn: true } : undefined;
  };
  t.match((await cycle()).warnings, [/not ready/]);
  t.equal(state.failed.size, 0);
  t.equal(follower.requests.length, 4, 'the last one was made, and nobody knows');
  follower.isDown = false;
  follower.faultOf = () => undefined;
  await cycle();
  t.equal(follower.requests.length, 10, 'nothing is made twice');
  t.match(state.requests.get('movie:4:False')?.subordinates, { 'http://follower': { adopted: true } });

  primary.ask({ mediaType: 'movie', tmdbId: 50 });
  follower.faultOf = ({ method }) => (method === 'POST' ? { kind: 'reset', isActedOn: false } : undefined);
  const before = writes().length;
  await cycle();
  t.match(state.failed.get('movie:50:False||http://follower'), { error: /closed before/, attempts: 1 });
  t.equal(writes().length - before, 1, 'a creation is not repeated blindly');
  ask(primary, 3, 60);
  const writesBefore = writes().length;
  t.match((await cycle()).warnings, [/not ready/], 'two in a row are an outage');
  t.equal(writes().length - writesBefore, 2);
  t.same([...state.failed.keys()], ['movie:50:False||http://follower']);
});

t.test('a wrong key ends the work, a refusal of one request does not', async t => {
  const { primary, follower, cycle, state, clock } = stage();
  ask(primary, 3);
  const key = follower.apiKey;
  Object.assign(follower, { apiKey: 'another' });
  t.match((await cycle()).warnings, [/refuses its key/]);
  t.equal(state.failed.size, 0);
  Object.assign(follower, { apiKey: key });
  follower.faultOf = ({ method, body }) =>
    method === 'POST' && body.mediaId === 2 ? { kind: 'status', status: 403 } : undefined;
  await cycle();
  t.equal(follower.requests.length, 2);
  t.same([...state.failed.keys()], ['movie:2:False||http://follower']);
  follower.faultOf = () => undefined;
  clock.nowMs += 24 * 60 * MINUTE_MS;
  await cycle();
  t.equal(follower.requests.length, 3);
  t.equal(state.failed.size, 0, 'a success takes the failure away at once');
});

t.test('of several requests that are there the newest is adopted that was not declined', async t => {
  const { primary, follower, cycle, held } = stage();
  const [live] = ask(follower, 1);
  const id = live?.id ?? 0;
  follower.setStatus(id, STATUS.declined);
  const [declined] = ask(follower, 1);
  follower.setStatus(declined?.id ?? 0, STATUS.declined);
  follower.setStatus(id, STATUS.approved);
  ask(primary, 1);
  await cycle();
  t.match(held('movie:1:False'), { id, status: STATUS.approved, adopted: true });
});

t.test('a busy subordinate is waited for, a failing read is repeated', async t => {
  const { primary, follower, cycle, state } = stage();
  ask(primary, 1);
  let busy = 3;
  follower.faultOf = ({ path }) => {
    if (path === '/status') return undefined;
    busy -= 1;
    return busy >= 0 ? { kind: 'busy', retryAfter: '1' } : undefined;
  };
  await cycle();
  t.equal(follower.requests.length, 1);
  t.equal(state.failed.size, 0);
  let broken = 2;
  primary.faultOf = ({ path }) => {
    if (path !== '/request') return undefined;
    broken -= 1;
    return broken >= 0 ? { kind: 'status', status: 503 } : undefined;
  };
  t.equal((await cycle()).error, null);
});

t.test('redirects', async t => {
  const { primary, follower, cycle, state } = stage();
  ask(primary, 1);
  follower.faultOf = ({ path }) => (path === '/status' ? undefined : { kind: 'redirect', origin: 'http://primary' });
  const before = primary.journal.calls('primary').length;
  await cycle();
  t.match([...state.failed.values()], [{ error: /redirects to http:\/\/primary/ }]);
  t.notOk(
    primary.journal
      .calls('primary')
      .slice(before)
      .some(({ call }) => call.headers['x-api-key'] === follower.apiKey),
    'the key stays at its origin',
  );
});

t.test('the disk is full', async t => {
  const { primary, follower, cycle, saves, writes } = stage();
  ask(primary, 5);
  saves.isFull = true;
  await t.rejects(cycle(), /no space left/);
  t.equal(writes().length, 0, 'nothing is told to anybody');
  saves.isFull = false;
  await cycle();
  t.equal(follower.requests.length, 5);
  primary.ask({ mediaType: 'movie', tmdbId: 77 });
  follower.faultOf = ({ method }) => {
    if (method === 'POST') saves.isFull = true;
    return undefined;
  };
  const before = writes().length;
  ask(primary, 3, 80);
  await t.rejects(cycle(), /no space left/);
  t.equal(writes().length - before, 1);
  saves.isFull = false;
  follower.faultOf = () => undefined;
  await cycle();
  t.equal(follower.requests.length, 9, 'nothing is made twice');
});

t.test('a subordinate that lost its data', async t => {
  const { primary, follower, cycle, sweep, held } = stage({ options: { sync_declined: true } });
  const [first, second] = ask(primary, 2);
  await cycle();
  follower.loseData();
  const stranger = follower.ask({ mediaType: 'movie', tmdbId: 900, status: STATUS.pending });
  t.equal(stranger.id, 1, 'the number is used again');
  primary.setStatus(first?.id ?? 0, STATUS.declined);
  await cycle();
  t.match(held('movie:1:False'), { gone: true });
  t.equal(follower.requests[0]?.status, STATUS.pending, "another's request is left alone");
  primary.remove(first?.id ?? 0);
  await sweep();
  t.equal(follower.requests.length, 1);
  primary.ask({ mediaType: 'movie', tmdbId: 1 });
  await cycle();
  t.equal(follower.requests.length, 2, 'deleted and requested again: created again');
  t.ok(second);
});

t.test('more creations than one cycle may make', async t => {
  const { primary, follower, cycle } = stage();
  ask(primary, 205);
  t.equal((await cycle()).hasMore, true);
  t.equal(follower.requests.length, 200);
  t.same(
    follower.requests.slice(0, 2).map(({ tmdbId }) => tmdbId),
    [1, 2],
    'oldest first',
  );
  t.equal((await cycle()).hasMore, false);
  t.equal(follower.requests.length, 205);
});

t.test('what fails at every poll holds up nothing else', async t => {
  const { primary, follower, cycle, clock, state } = stage({ options: { retry_failed_after_hours: 0 } });
  ask(primary, 255);
  follower.faultOf = ({ method, body }) =>
    method === 'POST' && Number(body.mediaId) <= 250 ? { kind: 'status', status: 500 } : undefined;
  t.equal((await cycle()).hasMore, true, 'the rest has not been tried yet');
  clock.nowMs += 1_000;
  t.equal((await cycle()).hasMore, false, 'what failed waits for the next poll');
  t.equal(follower.requests.length, 5);
  t.equal(state.failed.size, 250);
  for (const _ of [1, 2]) {
    clock.nowMs += MINUTE_MS;
    t.equal((await cycle()).hasMore, false);
  }
  t.ok(
    [...state.failed.values()].every(({ attempts }) => Number(attempts) > 1),
    'each has its turn',
  );
});

t.test('a slow subordinate has its turn, and others theirs', async t => {
  const { primary, follower, cycle } = stage({ turnMs: 0 });
  ask(primary, 3);
  t.equal((await cycle()).hasMore, true);
  t.equal(follower.requests.length, 1);
  t.equal((await cycle()).hasMore, true);
  t.equal((await cycle()).hasMore, false);
  t.equal(follower.requests.length, 3);
});

t.test('a list that repeats itself, and lists without an end', async t => {
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

t.test('no change, few calls', async t => {
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

t.test('a change that stands behind what is known is found on the next page', async t => {
  const { primary, follower, cycle } = stage();
  const [oldest] = ask(primary, 120);
  await cycle();
  // At the time at which all others were made, so that their order does not tell.
  primary.setStatus(oldest?.id ?? 0, STATUS.declined);
  ask(primary, 1, 500);
  await cycle();
  t.equal(follower.requests.length, 120);
  t.same(follower.requestsOf({ mediaType: 'movie', tmdbId: 1, is4k: false }), []);
});

t.test('a product that does not know how to ask for all seasons', async t => {
  const { primary, cycle, follower } = stage({
    follower: new RequestManager({ name: 'follower', product: 'early' }),
  });
  primary.ask({ mediaType: 'tv', tmdbId: 1399, seasons: [] });
  await cycle();
  t.same(
    follower.requests.map(({ seasons }) => seasons),
    [[1, 2, 3, 4]],
  );
});
