// While request managers hang, every route answers from cached data, the configuration can be changed, and the host can
// stop. A key is sent only to its own origin.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';
import { until } from '../../support/until.ts';

const TIME = '2026-01-01T00:00:00Z';
const PREFIXES = ['/request-sync', '/seerr-sync'];

t.test('request managers that hang', async t => {
  const primary = await startRequestManager(t, { name: 'primary' });
  const attic = await startRequestManager(t, { name: 'attic' });
  const elsewhere = await startRequestManager(t, { name: 'elsewhere' });
  primary.manager.faultOf = ({ path }) => (path === '/request' ? { kind: 'hang' } : undefined);
  attic.manager.faultOf = () => ({ kind: 'hang' });
  const failure = { failed_at: TIME, error: 'HTTP 500', media_type: 'movie', tmdb_id: 1 };
  const state = {
    last_poll_ts: TIME,
    requests: {
      'movie:1:False': { primary_id: 1, subordinates: {} },
      'movie:11:False': { primary_id: 2, subordinates: { attic: { id: 1, status: 2, synced_at: TIME } } },
    },
    failed: { 'movie:1:False||attic': failure, 'movie:11:False||attic': { ...failure, tmdb_id: 11 } },
  };
  const configDir = testDir(t, {});
  await writeFile(path.join(configDir, 'seerr_sync_state.json'), JSON.stringify(state), { mode: 0o600 });
  const section = {
    enabled: true,
    poll_interval_seconds: 10,
    external_primary: { enabled: true, url: primary.url, api_key: primary.manager.apiKey },
    external_subordinates: [{ url: attic.url, api_key: attic.manager.apiKey, label: 'attic' }],
  };
  const app = await startHost({
    configDir,
    plugins: ['request-sync', 'config', 'host-plugins'],
    config: { seerr_sync: section },
  });
  const isListed = () => primary.manager.journal.calls().some(({ call }) => call.path === '/request');
  await until(isListed, { what: 'the list to be asked for' });
  const test = (url: string) => app.post('/request-sync/test', { url, api_key: attic.manager.apiKey });
  const late = test(attic.url);
  await until(() => attic.manager.journal.calls().length === 1, { what: 'the test to ask' });

  await t.test('the routes answer from cached data', async t => {
    for (const prefix of PREFIXES) {
      const status = await app.get(`${prefix}/status`);
      t.equal(status.status, 200);
      t.match(status.body, {
        status: 'active',
        last_poll: TIME,
        total_requests_tracked: 2,
        total_failed: 2,
        subordinates: { attic: { synced: 1, failed: 2 } },
      });
      t.equal((await app.get(`${prefix}/failed`)).body.count, 2);
      t.match((await app.get(`${prefix}/state`)).body, state);
    }
    const cleared = await app.request('DELETE', '/seerr-sync/failed?fingerprint=movie:1:false');
    t.match([cleared.status, cleared.body.cleared], [200, 1]);
    const { failed_requests: left } = (await app.get('/request-sync/failed')).body;
    t.match(left, [{ fingerprint: 'movie:11:False', tmdb_id: 11 }], 'no other that begins like it');
    t.equal((await app.request('DELETE', '/request-sync/failed')).body.cleared, 1);
    t.equal((await app.request('DELETE', '/request-sync/failed')).body.cleared, 0);
  });

  await t.test('a redirect to another origin gets no key', async t => {
    attic.manager.faultOf = () => ({ kind: 'redirect', origin: elsewhere.url });
    const { status, body } = await test(attic.url);
    t.equal(status, 400);
    t.match(body.detail, elsewhere.url);
    t.same(elsewhere.manager.journal.calls(), []);
  });

  await t.test('the test of a hanging address ends', async t => {
    const { status, body } = await late;
    t.equal(status, 400);
    t.match(body.detail, /timeout|did not answer|in time/);
    t.notMatch(body.detail, attic.manager.apiKey);
  });

  await t.test('the configuration can be changed, and the host stops', async t => {
    const answer = await app.post('/config', {
      updates: { seerr_sync: { poll_interval_seconds: 20 } },
      persist: false,
    });
    t.equal(answer.status, 200);
    t.equal((await app.get('/request-sync/status')).body.poll_interval_seconds, 20);
    const { plugins } = (await app.get('/host/plugins')).body;
    const own = plugins.find(({ name }: { name: string }) => name === 'request-sync');
    t.same(own.errors, {});
    await app.stop();
    t.same(elsewhere.manager.journal.calls(), []);
  });
});
