// Requests on the primary appear on the subordinates, over real sockets and with the routes of both prefixes.

import { mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { STATUS } from '../../support/request-manager.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['request-sync', 'config', 'process'];
/** At this pace ten seconds between two cycles become half a second. */
const PACE = 0.05;

t.test('requests are replicated from the primary to two subordinates', async t => {
  const primary = await startRequestManager(t, { name: 'primary' });
  const attic = await startRequestManager(t, { name: 'attic', pathPrefix: '/requests' });
  const cellar = await startRequestManager(t, { name: 'cellar' });
  const movie = primary.manager.ask({ mediaType: 'movie', tmdbId: 603 });
  const series = primary.manager.ask({ mediaType: 'tv', tmdbId: 1399, seasons: [1, 2] });
  primary.manager.ask({ mediaType: 'movie', tmdbId: 604 });
  cellar.manager.ask({ mediaType: 'movie', tmdbId: 603 });
  const section = {
    enabled: false,
    poll_interval_seconds: 10,
    external_primary: { enabled: true, url: `${primary.url}/`, api_key: primary.manager.apiKey },
    external_subordinates: [
      { url: `${attic.url}/`, api_key: attic.manager.apiKey, label: 'Attic' },
      { url: cellar.url, api_key: cellar.manager.apiKey },
    ],
  };
  const app = await startHost({ plugins: PLUGINS, pace: PACE, config: { seerr_sync: section } });
  t.teardown(() => app.stop());
  const status = async () => (await app.get('/seerr-sync/status')).body;
  const save = async (updates: object) => {
    const { status, text } = await app.post('/config/', { updates: { seerr_sync: updates }, persist: true });
    t.equal(status, 200, text);
  };

  const flags = (await app.get('/process/capabilities')).body;
  t.match(flags, { request_sync: true, seerr_sync: true });
  t.same(await status(), { enabled: false, status: 'disabled' });
  t.match((await app.get('/request-sync/state')).body, { last_poll_ts: null, requests: {}, failed: {} });
  t.equal(primary.manager.journal.calls().length, 0, 'nothing is asked while it is off');
  t.same((await app.host.reviewConfig()).problems, []);

  await save({ enabled: true });
  const first = await until(async () => {
    const now = await status();
    return now.subordinates?.Attic?.synced === 3 && now.subordinates[cellar.url].synced === 3 && now;
  });
  t.match(first, {
    status: 'active',
    poll_interval_seconds: 10,
    total_failed: 0,
    last_error: null,
    subordinates: { Attic: { synced: 3, failed: 0 }, [cellar.url]: { synced: 3, failed: 0 } },
  });
  t.match(first.last_poll, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  t.match(
    attic.manager.requests,
    [{ tmdbId: 603 }, { tmdbId: 1399, seasons: [1, 2] }, { tmdbId: 604 }],
    'oldest first',
  );
  t.equal(cellar.manager.requests.length, 3, 'what was there is not requested again');
  const { requests } = (await app.get('/request-sync/state')).body;
  t.match(requests['movie:603:False'], {
    primary_id: movie.id,
    subordinates: { Attic: { status: 2, ids: [attic.manager.requests[0]?.id] }, [cellar.url]: { adopted: true } },
  });
  const file = path.join(app.configDir, 'seerr_sync_state.json');
  t.equal((await stat(file)).mode & 0o777, 0o600);
  await until(
    async () => JSON.stringify(JSON.parse(await readFile(file, 'utf8')).requests) === JSON.stringify(requests),
  );
  t.notMatch(await readFile(file, 'utf8'), /key-of/);

  await t.test('seasons, declines and deletions follow', async t => {
    primary.manager.addSeasons(series.id, [3]);
    await until(() => attic.manager.requestsOf(series).some(({ seasons }) => seasons.includes(3)));
    t.same(
      attic.manager.requestsOf(series).map(({ seasons }) => seasons),
      [[1, 2], [3]],
      'only what is missing',
    );
    primary.manager.remove(movie.id);
    primary.manager.remove(series.id);
    await until(() => attic.manager.requests.length === 1);
    await until(async () => (await status()).total_requests_tracked === 1);
    t.match(cellar.manager.requests, [{ tmdbId: 603 }, { tmdbId: 604 }], 'what was there before stays');
  });

  await t.test('after any change of the section the whole list is read', async t => {
    const old = primary.manager.ask({ mediaType: 'movie', tmdbId: 605 });
    await until(() => attic.manager.requestsOf(old).length === 1);
    primary.manager.remove(old.id);
    const next = primary.manager.ask({ mediaType: 'movie', tmdbId: 606 });
    await until(() => attic.manager.requestsOf(next).length === 1);
    t.equal(attic.manager.requestsOf(old).length, 1, 'a list that is as long as before shows no deletion');
    await save({ poll_interval_seconds: 11 });
    await until(() => attic.manager.requestsOf(old).length === 0);
    primary.manager.remove(next.id);
    await until(() => attic.manager.requests.length === 1);
  });

  await t.test('a failure is listed, can be cleared, and is tried again', async t => {
    attic.manager.faultOf = ({ method }) => (method === 'POST' ? { kind: 'status', status: 500 } : undefined);
    primary.manager.ask({ mediaType: 'movie', tmdbId: 11, status: STATUS.pending });
    const failed = await until(async () => {
      const { body } = await app.get('/seerr-sync/failed');
      return body.count === 1 && body;
    });
    t.match(failed.failed_requests, [
      {
        fingerprint: 'movie:11:False',
        subordinate: 'Attic',
        media_type: 'movie',
        tmdb_id: 11,
        error: 'HTTP 500',
        attempts: 1,
      },
    ]);
    await until(async () => /approves by itself/.test(JSON.stringify((await status()).warnings)));
    attic.manager.faultOf = () => undefined;
    t.match((await app.request('DELETE', '/request-sync/failed?fingerprint=movie:1:False')).body, { cleared: 0 });
    t.match((await app.request('DELETE', '/seerr-sync/failed?fingerprint=movie:11:false')).body, { cleared: 1 });
    await until(() => attic.manager.requests.length === 2);
    t.equal((await status()).total_failed, 0);
  });

  await t.test('a label survives a save by a client that does not know it', async t => {
    const { url, api_key } = section.external_subordinates[0] ?? { url: '', api_key: '' };
    await save({ external_subordinates: [{ url, api_key }] });
    t.match((await app.get('/config')).body.seerr_sync.external_subordinates, [{ url, label: 'Attic' }]);
    const bare = url.replace(/\/$/, '');
    await save({ external_subordinates: [{ url: bare, api_key }] });
    const { external_subordinates: saved } = (await app.get('/config')).body.seerr_sync;
    t.match(saved, [{ url: bare, label: 'Attic' }], 'also when the client writes the same address otherwise');
    const refused = await app.post('/config', {
      updates: { seerr_sync: { poll_interval_seconds: '' } },
      persist: true,
    });
    t.equal(refused.status, 400, refused.text);
  });

  await t.test('faults of the configuration are reported', async t => {
    await save({ external_primary: { api_key: '' } });
    await until(async () => /needs its url and its api_key/.test((await status()).last_error));
    t.same((await app.host.reviewConfig()).problems, [
      'seerr_sync: the external primary needs its url and its api_key',
    ]);
    await save({ external_primary: { api_key: primary.manager.apiKey } });
    await until(async () => (await status()).last_error === null);
  });

  await t.test('addresses can be tested', async t => {
    const test = async (url: string, api_key: string) => {
      const { status, body } = await app.post('/seerr-sync/test', { url, api_key });
      return `${status} ${body.detail ?? body.status.version}`;
    };
    t.equal(await test(`${attic.url}//`, attic.manager.apiKey), `200 ${attic.manager.product.version}`);
    t.equal(await test(attic.url, '********'), `200 ${attic.manager.product.version}`, 'the stored key');
    t.match(await test(cellar.url, '********'), /^400 The key is masked/);
    t.match(await test(attic.url, 'wrong'), /^400 Remote answered HTTP 40[13]: the key was refused$/);
    t.match(await test(' ', 'x'), /^400 Both/);
    t.match(await test('ftp://host', 'x'), /^400 .*http:/);
    t.match(await test('http://user:word@host', 'x'), /^400 .*password/);
    t.match(await test('http://127.0.0.1:1', 'x'), /^400 .*refused/);
    t.equal((await app.post('/seerr-sync/test', { url: attic.url })).status, 422);
    attic.manager.faultOf = () => ({ kind: 'html' });
    t.match(await test(attic.url, 'x'), /^400 .*not that of a request manager/);
    attic.manager.faultOf = () => ({ kind: 'status', status: 502 });
    t.equal(await test(attic.url, 'x'), '400 Remote answered HTTP 502');
    attic.manager.faultOf = () => ({ kind: 'redirect', origin: cellar.url });
    const before = cellar.manager.journal.calls().length;
    t.equal(await test(attic.url, 'x'), `400 The test failed: it redirects to ${cellar.url}.`);
    t.equal(cellar.manager.journal.calls().length, before, 'nobody is asked there');
  });
});

t.test('an interval beyond the limit of timers is kept', async t => {
  const primary = await startRequestManager(t, { name: 'primary' });
  const cellar = await startRequestManager(t, { name: 'cellar' });
  const section = {
    enabled: true,
    poll_interval_seconds: 86_400_000,
    external_primary: { enabled: true, url: primary.url, api_key: primary.manager.apiKey },
    external_subordinates: [{ url: cellar.url, api_key: cellar.manager.apiKey }],
  };
  const app = await startHost({ plugins: PLUGINS, pace: PACE, config: { seerr_sync: section } });
  t.teardown(() => app.stop());
  const status = async () => (await app.get('/seerr-sync/status')).body;
  await until(async () => (await status()).last_poll, { what: 'the first cycle' });
  await until(async () => Date.parse((await status()).next_poll) > Date.now() + 1_000);
  for (let count = 0; count < 20; count += 1) await status();
  const asked = primary.manager.journal.calls().filter(({ call }) => call.path === '/status');
  t.equal(asked.length, 1, 'no cycle follows the first one at once');
  t.ok(Date.parse((await status()).next_poll) - Date.now() < 26 * 86_400_000, 'nor after more than a timer can wait');
  const { now } = Date;
  const before = Date.parse((await status()).next_poll);
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() - 86_400_000;
  const after = Date.parse((await status()).next_poll);
  Date.now = now;
  t.ok(Math.abs(before - after - 86_400_000) < 60_000, 'it follows a time of day that is set back');
});

t.test('no failure is cleared while that cannot be saved', async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'seerr_sync_state.json');
  const failure = { failed_at: '2026-01-01T00:00:00Z', error: 'HTTP 500', media_type: 'movie', tmdb_id: 1 };
  await writeFile(file, JSON.stringify({ failed: { 'movie:1:False||attic': failure } }), { mode: 0o600 });
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(() => app.stop());
  const clear = () => app.request('DELETE', '/request-sync/failed');
  // The former state cannot be kept where a directory stands.
  await mkdir(`${file}.bak`);
  const refused = await clear();
  t.equal(refused.status, 500);
  t.match(refused.body.detail, /^Nothing was cleared: /);
  t.equal((await app.get('/request-sync/failed')).body.count, 1);
  await rmdir(`${file}.bak`);
  t.match(await clear(), { status: 200, body: { cleared: 1 } });
  t.same(JSON.parse(await readFile(file, 'utf8')).failed, {});
});
