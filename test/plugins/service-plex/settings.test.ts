// Address and token of a Plex server, as the settings page of the frontend shows and saves them.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { pluginsDir, startHost } from '../../support/host.ts';

const skip = !existsSync(path.join(pluginsDir, 'service-plex'));

t.test('the token is shown as it is saved, and checked', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'process', 'service-plex'], config: {} });
  t.teardown(() => app.stop());
  const section = async () => (await app.get('/config')).body.dumb;
  const save = (plex_token: unknown) => app.post('/config', { updates: { dumb: { plex_token } }, persist: true });
  t.match(await section(), { plex_address: '', plex_token: '' });

  t.match(await save('the-token'), { status: 200, body: { changed: ['dumb.plex_token'], warnings: [] } });
  t.equal((await section()).plex_token, 'the-token', 'the page saves what it was shown');
  const refused = await save(5);
  t.equal(refused.status, 400);
  t.match(refused.body.detail, /dumb\.plex_token: it must be text/);

  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } } });
  t.equal((await section()).plex_token, '********');
  t.equal((await save('********')).status, 200);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: false } } } });
  t.equal((await section()).plex_token, 'the-token', 'a mask keeps it');
});

t.test('variables set address and token', { skip }, async t => {
  process.env.DUMB_PLEX_ADDRESS = 'http://plex:32400';
  process.env.DUMB_PLEX_TOKEN = 'of-the-environment';
  t.teardown(() => {
    delete process.env.DUMB_PLEX_ADDRESS;
    delete process.env.DUMB_PLEX_TOKEN;
  });
  const app = await startHost({ plugins: ['config', 'process', 'service-plex'], config: {} });
  t.teardown(() => app.stop());
  t.match((await app.get('/config')).body.dumb, {
    plex_address: 'http://plex:32400',
    plex_token: 'of-the-environment',
  });
});
