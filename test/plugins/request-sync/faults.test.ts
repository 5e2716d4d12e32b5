// The consequences of each fault of a request manager, with managers and a network in process, on a clock of the test.
import t from 'tap';
import { RequestManager, STATUS } from '../../support/request-manager.ts';
import { ask, MINUTE_MS, stage } from '../../support/request-stage.ts';

t.test('nothing changes while the primary is down or refuses the key', async t => {
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

t.test('a primary that has lost its data deletes nothing at once', async t => {
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

t.test('nothing is deleted when the primary fails during the confirmation', async t => {
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

t.test('deletions are made up for after an outage of a subordinate', async t => {
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

t.test('an outage during a cycle is made up for', async t => {
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

t.test('a redirect is not followed', async t => {
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

t.test('nothing is created while the state cannot be saved', async t => {
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

t.test('a subordinate that lost its data is filled again', async t => {
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

t.test('further creations are left to the next cycle', async t => {
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

t.test('a request that always fails delays no other', async t => {
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

t.test('a slow subordinate gets a limited time in each cycle', async t => {
  const { primary, follower, cycle } = stage({ turnMs: 0 });
  ask(primary, 3);
  t.equal((await cycle()).hasMore, true);
  t.equal(follower.requests.length, 1);
  t.equal((await cycle()).hasMore, true);
  t.equal((await cycle()).hasMore, false);
  t.equal(follower.requests.length, 3);
});

t.test('each season is named for a product without a word for all', async t => {
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
