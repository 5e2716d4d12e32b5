// Lists of secrets that clients send back with masks.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { openWith, sleeper } from '../../support/configured.ts';

const MASK = '********';

t.test('each masked secret of a list keeps its own value', async t => {
  const kid = sleeper('Kid', { enabled: false, api_keys: ['one', 'two'] });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const { api_keys: shown } = (await app.get('/config?process_name=Kid')).body;
  t.same(shown, [MASK, MASK]);
  const save = async (keys: readonly string[]) => {
    t.equal((await app.post('/config', { updates: { kid: { api_keys: keys } }, persist: true })).status, 200);
    return JSON.parse(await readFile(file, 'utf8')).kid.api_keys;
  };
  t.same(await save(shown), ['one', 'two']);
  t.same(await save([...shown, 'three']), ['one', 'two', 'three']);
});

t.test('a mask in a list that memory has replaced never stands for the secret of another item', async t => {
  const feeds = [
    { name: 'a', place: 'north', token: 'sesame' },
    { name: 'b', place: 'south', token: 'open' },
  ];
  const { app, file } = await openWith(t, { kid: sleeper('Kid', { enabled: false, feeds }) }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const shown = async () => (await app.get('/config?process_name=Kid')).body.feeds;
  const send = async (list: readonly unknown[], persist: boolean) =>
    t.equal((await app.post('/config', { process_name: 'Kid', updates: { feeds: list }, persist })).status, 200);
  const inFile = async () => JSON.parse(await readFile(file, 'utf8')).kid.feeds;
  const others = [
    { name: 'c', place: 'east', token: 'of c' },
    { name: 'd', place: 'west', token: 'of d' },
  ];
  const stale = await shown();

  await send(others, false);
  await send(stale, true);
  t.same(await inFile(), feeds, 'a list that was shown before is that of the file');

  await send(others, false);
  await send([stale[0], { ...stale[1], place: 'far' }], true);
  t.same(await inFile(), [feeds[0], { ...feeds[1], place: 'far' }], 'also where an item was changed');

  await send(others, false);
  const [c, d] = await shown();
  await send([{ ...c, place: 'far' }, d], true);
  t.same(await inFile(), [{ ...others[0], place: 'far' }, others[1]], 'a changed item of memory keeps its own');

  await send([{ ...others[0], place: 'near' }, feeds[1]], false);
  const [first, second] = await shown();
  await send([{ ...first, place: 'here' }, second], true);
  t.same(await inFile(), [{ ...others[0], place: 'here' }, feeds[1]], 'also one that memory has changed visibly alone');
});

t.test('items are told by an address that was shown without its credentials', async t => {
  const wait_for_url = ['one', 'two'].map(password => ({
    url: `http://u:${password}@127.0.0.1/a`,
    auth: { user: 'u', password },
  }));
  const kid = sleeper('Kid', { enabled: false, wait_for_url });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const { wait_for_url: shown } = (await app.get('/config?process_name=Kid')).body;
  t.equal(shown[0].url, `http://${MASK}@127.0.0.1/a`);
  const more = { url: 'http://127.0.0.1/b' };
  const answer = await app.post('/config', { updates: { kid: { wait_for_url: [more, ...shown] } }, persist: true });
  t.equal(answer.status, 200, answer.text);
  t.same(JSON.parse(await readFile(file, 'utf8')).kid.wait_for_url, [more, ...wait_for_url]);
});

t.test('a mask of what only memory lacks or has changed stands for the value of the file', async t => {
  const env = { MY_TOKEN: 'hunter2', MODE: 'slow' };
  const feeds = [
    { name: 'a', token: 'sesame' },
    { name: 'b', token: 'open', url: 'http://u:p@feeds' },
  ];
  const kid = sleeper('Kid', { enabled: false, env, feeds });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const { env: stale, feeds: staleFeeds } = (await app.get('/config?process_name=Kid')).body;
  t.match([stale.MY_TOKEN, staleFeeds[0].token, staleFeeds[1].url], [MASK, MASK, `http://${MASK}@feeds`]);
  const send = async (updates: Readonly<Record<string, unknown>>, persist: boolean) =>
    t.equal((await app.post('/config', { process_name: 'Kid', updates, persist })).status, 200);
  const inFile = async () => JSON.parse(await readFile(file, 'utf8')).kid;

  await send({ env: { MODE: 'slow' }, feeds: [{ name: 'b', token: 'other', url: 'http://feeds' }] }, false);
  await send({ env: { ...stale, MODE: 'fast' }, feeds: [...staleFeeds, { name: 'c' }] }, true);
  t.same((await inFile()).env, { ...env, MODE: 'fast' });
  t.match((await inFile()).feeds, [feeds[0], { url: 'http://u:p@feeds' }, { name: 'c' }]);

  await send({ feeds: [{ name: 'b', token: 'other' }] }, false);
  await send({ feeds: [{ name: 'd', token: MASK }, { name: 'e' }, { name: 'f' }] }, true);
  t.notMatch((await inFile()).feeds[0], { token: 'sesame' }, 'no item gets the secret of another');

  await send({ env: {} }, false);
  const updates = { kid: { env: { ...stale, MODE: 'calm' } } };
  t.equal((await app.post('/config', { updates, persist: true })).status, 200);
  t.same((await inFile()).env, { ...env, MODE: 'calm' });
});

t.test('a list that was shown before memory changed it keeps the secrets of the file', async t => {
  const api_keys = ['one', 'two'];
  const feeds = [
    { name: 'a', token: 'sesame' },
    { name: 'b', token: 'open' },
  ];
  const kid = sleeper('Kid', { enabled: false, api_keys, feeds });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const { api_keys: staleKeys, feeds: staleFeeds } = (await app.get('/config?process_name=Kid')).body;
  const send = async (updates: Readonly<Record<string, unknown>>, persist: boolean) =>
    t.equal((await app.post('/config', { process_name: 'Kid', updates, persist })).status, 200);
  const inFile = async () => JSON.parse(await readFile(file, 'utf8')).kid;

  const [, second] = feeds;
  await send({ api_keys: ['three'], feeds: [second, { name: 'c', token: 'other' }] }, false);
  await send({ api_keys: [...staleKeys, 'new'], feeds: staleFeeds }, true);
  t.same(await inFile(), { ...kid, api_keys: [...api_keys, 'new'] });

  await send({ feeds: [{ name: 'c', token: 'other' }] }, false);
  await send({ feeds: [staleFeeds[0]] }, true);
  t.same((await inFile()).feeds, [feeds[0]], 'what was shown tells an item, and its place does not');

  await send({ feeds: [{ name: 'c', token: 'other' }, second] }, false);
  await send({ feeds: [staleFeeds[0], staleFeeds[1]] }, true);
  t.same((await inFile()).feeds, feeds, 'also in a list of items that were shown before and after');
});

t.test('a blank secret that was shown as not set brings back nothing that memory has removed', async t => {
  const there = { id: 'd', name: 'D', provider: 'webhook', enabled: false, url: 'https://hooks.example.org/secret' };
  const { app, file } = await openWith(t, {}, ['config', 'process', 'notifications', 'notify-webhook']);
  const shown = async () => (await app.get('/config')).body.dumb.notifications.destinations;
  const send = async (destinations: readonly unknown[], persist: boolean) =>
    t.equal(
      (await app.post('/config', { updates: { dumb: { notifications: { destinations } } }, persist })).status,
      200,
    );
  const urlInFile = async () => JSON.parse(await readFile(file, 'utf8')).dumb.notifications.destinations[0].url;
  await send([there], true);
  const stale = await shown();
  const { url, ...withoutUrl } = there;
  await send([withoutUrl], false);
  await send(stale, true);
  t.equal(await urlInFile(), url, 'one that was shown as set keeps the value of the file');
  await send([withoutUrl], false);
  await send(await shown(), true);
  t.notOk(await urlInFile());
});

t.test('an item that only memory lacks keeps what stays although it is not sent', async t => {
  const there = { url: 'http://127.0.0.1:1', api_key: 'sesame', label: 'Attic' };
  const { app, file } = await openWith(t, {}, ['config', 'process', 'request-sync']);
  const send = async (external_subordinates: readonly unknown[], persist: boolean) => {
    const updates = { seerr_sync: { external_subordinates } };
    t.equal((await app.post('/config', { updates, persist })).status, 200);
  };
  await send([there], true);
  await send([], false);
  await send([{ url: there.url, api_key: MASK }], true);
  t.match(JSON.parse(await readFile(file, 'utf8')).seerr_sync.external_subordinates, [there]);
});

t.test('an item of several that look alike never gets the secret of another', async t => {
  const command = [...(sleeper('Kid').command as readonly string[]), '--password', 'first', '--token', 'second'];
  const feeds = [
    { name: 'a', place: 'north', token: 'sesame' },
    { name: 'b', place: 'south', token: 'open' },
  ];
  const kid = sleeper('Kid', {
    enabled: false,
    command,
    feeds,
    api_keys: ['one', 'two'],
    old_api_keys: ['one', 'one'],
  });
  const { app, file } = await openWith(t, { kid }, ['config', 'process']);
  await app.post('/config', { updates: { dumb: { api_service: { mask_secrets: true } } }, persist: false });
  const shown = (await app.get('/config?process_name=Kid')).body;
  const send = (updates: object) => app.post('/config', { process_name: 'Kid', updates, persist: true });
  const [north, south] = shown.feeds;
  const unclear = {
    'one of two is removed': { api_keys: [MASK] },
    'one of two is copied': { api_keys: [MASK, MASK, MASK] },
    'one option of two is removed': { command: shown.command.slice(0, -2) },
    'two are swapped, and one is changed': { feeds: [south, { ...north, place: 'far' }] },
  };
  for (const [what, updates] of Object.entries(unclear))
    t.match(await send(updates), { status: 400, body: { detail: /cannot be told apart .*; write out/ } }, what);
  t.match(JSON.parse(await readFile(file, 'utf8')).kid, kid);

  const words = [...command.slice(0, -2), '--verbose'];
  const clear = { api_keys: ['two', 'three'], feeds: [south, north], command: words };
  const answer = await send({ ...clear, old_api_keys: [MASK] });
  t.equal(answer.status, 200, answer.text);
  t.match(JSON.parse(await readFile(file, 'utf8')).kid, { ...clear, feeds: feeds.toReversed(), old_api_keys: ['one'] });
});
