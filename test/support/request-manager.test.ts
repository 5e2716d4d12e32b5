// The stand-in for request managers answers as the public API does, with each product's own ways, and fails on command.
import t from 'tap';
import { RequestJournal } from './request-journal.ts';
import { RequestManager, STATUS } from './request-manager.ts';
import { managerNetwork } from './request-manager-network.ts';
import type { RequestManagerName } from './request-manager-products.ts';
import { startRequestManager } from './request-manager-server.ts';

const MOVIE = { mediaType: 'movie', tmdbId: 603, is4k: false } as const;
const USER = { id: 7, email: 'user@example.com', permissions: 32, quota: 1 };

type Send = (method: string, path: string, json?: unknown, headers?: Record<string, string>) => Promise<Answer>;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of any shape
  readonly body: any;
}

function inProcess(product: RequestManagerName): { manager: RequestManager; send: Send } {
  const manager = new RequestManager({ product, users: [USER] });
  const origin = 'http://manager.test';
  const { fetch } = managerNetwork(new Map([[origin, manager]]), async () => undefined);
  return {
    manager,
    async send(method, path, json, headers) {
      const answer = await fetch(`${origin}/api/v1${path}`, {
        method,
        json,
        headers: { 'X-Api-Key': manager.apiKey, ...headers },
        redirects: 0,
      });
      return { status: answer.status, body: answer.text === '' ? undefined : answer.json() };
    },
  };
}

t.test('who asks, and with which key', async t => {
  const { manager, send } = inProcess('merged');
  t.match(await send('GET', '/status', undefined, { 'X-Api-Key': 'wrong' }), {
    status: 200,
    body: { version: '3.0.1' },
  });
  t.equal((await send('GET', '/request', undefined, { 'X-Api-Key': 'wrong' })).status, 401);
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 1 })).body.status, STATUS.approved);
  const asUser = { 'X-API-User': '7' };
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 2 }, asUser)).body.status, STATUS.pending);
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 3 }, asUser)).status, 403, 'the quota');
  t.same(
    manager.requests.map(({ requestedBy }) => requestedBy.id),
    [1, 7],
  );
});

t.test('duplicates, seasons and edits', async t => {
  const { send } = inProcess('merged');
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 1 })).status, 201);
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 1 })).status, 409);
  t.equal((await send('POST', '/request', { mediaType: 'movie', mediaId: 1, is4k: true })).status, 201);
  const series = { mediaType: 'tv', mediaId: 5 };
  t.equal((await send('POST', '/request', series)).status, 500, 'without seasons');
  const first = await send('POST', '/request', { ...series, seasons: [1, 2] });
  t.match(first.body, { seasons: [{ seasonNumber: 1 }, { seasonNumber: 2 }], media: { tvdbId: 1_000_005 } });
  const more = await send('POST', '/request', { ...series, seasons: [2, 3] });
  t.match(more.body.seasons, [{ seasonNumber: 3 }]);
  t.equal((await send('POST', '/request', { ...series, seasons: [1, 3] })).status, 202);
  t.match((await send('POST', '/request', { ...series, seasons: 'all' })).body.seasons, [{ seasonNumber: 4 }]);
  t.equal((await send('PUT', `/request/${first.body.id}`, { ...series, seasons: [1] })).status, 409);
  const early = inProcess('early');
  t.equal((await early.send('POST', '/request', { ...series, seasons: 'all' })).status, 500);
  await early.send('POST', '/request', { ...series, seasons: [1] });
  t.equal((await early.send('PUT', '/request/1', { ...series, seasons: [1, 2] })).status, 200);
});

t.test('lists, what they hide, and titles', async t => {
  const { manager, send } = inProcess('early');
  for (const tmdbId of [1, 2, 3]) manager.ask({ mediaType: 'movie', tmdbId });
  manager.makeAvailable({ ...MOVIE, tmdbId: 2 });
  const { body } = await send('GET', '/request?take=1&skip=1&sort=added');
  t.match(body, { pageInfo: { pages: 2, pageSize: 1, results: 2, page: 2 }, results: [{ id: 1, status: 2 }] });
  t.match((await send('GET', '/request/2')).body, { status: STATUS.completed, media: { status: 5, status4k: 1 } });
  t.match((await send('GET', '/movie/2')).body, { mediaInfo: { status: 5, requests: [{ id: 2, type: 'movie' }] } });
  t.notOk('mediaInfo' in (await send('GET', '/movie/9')).body);
  const { manager: merged, send: ask } = inProcess('merged');
  merged.ask(MOVIE);
  merged.blocklist(MOVIE);
  t.equal((await ask('GET', '/request')).body.pageInfo.results, 0);
  t.equal((await ask('POST', '/request', { mediaType: 'movie', mediaId: 603 })).status, 403);
});

t.test('approval, refusal and removal, with what is gone', async t => {
  const { manager, send } = inProcess('forked');
  const { id } = manager.ask({ ...MOVIE, status: STATUS.pending });
  t.equal((await send('POST', `/request/${id}/approve`)).body.status, STATUS.approved);
  t.equal((await send('POST', `/request/${id}/decline`)).body.status, STATUS.declined);
  t.equal((await send('DELETE', `/request/${id}`)).status, 204);
  for (const [method, path] of [
    ['POST', `/request/${id}/approve`],
    ['DELETE', `/request/${id}`],
    ['GET', `/request/${id}`],
  ] as const)
    t.equal((await send(method, path)).status, 404);
  manager.loseData();
  t.equal(manager.ask(MOVIE).id, 1, 'numbers begin anew');
});

t.test('over a socket: faults on command, and the journal', async t => {
  const journal = new RequestJournal();
  const { manager, url, close, open } = await startRequestManager(t, { journal, name: 'a', pathPrefix: '/requests' });
  const headers = { 'x-api-key': manager.apiKey, 'content-type': 'application/json' };
  const create = (mediaId: number) =>
    fetch(`${url}/api/v1/request`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ mediaType: 'movie', mediaId }),
      redirect: 'manual',
    });
  t.equal((await create(1)).status, 201);
  manager.faultOf = () => ({ kind: 'reset', isActedOn: true });
  await t.rejects((async () => (await create(2)).json())());
  manager.faultOf = () => ({ kind: 'reset', isActedOn: false });
  await t.rejects(create(3));
  manager.faultOf = () => ({ kind: 'busy', retryAfter: '2' });
  t.equal((await create(3)).headers.get('retry-after'), '2');
  manager.faultOf = () => ({ kind: 'redirect', origin: 'http://elsewhere.test' });
  t.equal((await create(3)).headers.get('location'), 'http://elsewhere.test/api/v1/request');
  manager.faultOf = () => ({ kind: 'html' });
  t.match(await (await create(3)).text(), '<form');
  manager.faultOf = () => ({ kind: 'garbled' });
  await t.rejects((async () => (await create(3)).json())(), SyntaxError);
  await close();
  await t.rejects(create(4));
  manager.faultOf = () => undefined;
  await open();
  t.equal((await create(1)).status, 409, 'data survive');
  t.same(
    journal.calls('a').map(({ status, change }) => [status, change?.tmdbId]),
    [
      [201, 1],
      [201, 2],
      [null, undefined],
      [429, undefined],
      [302, undefined],
      [200, undefined],
      [201, 3],
      [409, undefined],
    ],
  );
});
