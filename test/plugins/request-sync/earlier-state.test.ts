// State that an earlier program has left, and addresses that users try out.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';

t.test('state of an earlier program is shown before the first cycle', async t => {
  const attic = await startRequestManager(t, { name: 'attic' });
  const configDir = testDir(t, {});
  const failed = {
    'movie:11:False||attic': { failed_at: '2026-01-02T00:00:00Z', error: `no\n such\ttitle ${'x'.repeat(400)}` },
    'tv:12:True||attic': { failed_at: '2026-01-01T00:00:00Z', error: 'HTTP 500', media_type: 5, tmdb_id: '12' },
  };
  await writeFile(path.join(configDir, 'seerr_sync_state.json'), JSON.stringify({ failed }), { mode: 0o600 });
  const app = await startHost({ configDir, plugins: ['request-sync', 'config'] });
  t.teardown(() => app.stop());

  await t.test('failures have every member, and an error of one short line', async t => {
    const { failed_requests: rows } = (await app.get('/request-sync/failed')).body;
    t.match(rows, [
      { fingerprint: 'movie:11:False', media_type: 'movie', tmdb_id: 11, error: /^no such title x+$/ },
      { fingerprint: 'tv:12:True', media_type: 'tv', tmdb_id: 12, error: 'HTTP 500' },
    ]);
    t.ok(rows[0].error.length <= 300);
  });

  for (const [what, body, detail] of [
    ['no host', { url: 'http:///seerr', api_key: 'key' }, 'The url has no host.'],
    [
      'a port beyond the last',
      { url: 'http://localhost:99999/seerr', api_key: 'key' },
      /^The url has port 99999; the highest is 65535/,
    ],
    ['a host that is none', { url: 'http://local host/seerr', api_key: 'key' }, /^The url cannot be read/],
    ['a user', { url: 'http://me:pass@localhost/seerr', api_key: 'key' }, /^The url must not hold a user name/],
    ['a key of two lines', { url: attic.url, api_key: 'key\r\nx-more: 1' }, /^The api_key holds signs that no key has/],
    ['a key with an umlaut', { url: attic.url, api_key: 'schlüssel' }, /^The api_key holds signs that no key has/],
  ] as const)
    await t.test(what, async t => {
      const answer = await app.post('/request-sync/test', body);
      t.equal(answer.status, 400);
      t.match(answer.body.detail, detail);
    });
  t.same(attic.manager.journal.calls(), []);

  await t.test('a status without a version', async t => {
    const other = createServer((_request, response) => response.end('{"version": ""}')).listen(0, '127.0.0.1');
    t.teardown(() => other.close());
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const answer = await app.post('/request-sync/test', { url, api_key: 'key' });
    t.match(answer, { status: 400, body: { detail: /not that of a request manager/ } });
  });
});
