// Unfit items of a list in the file are not shown to clients, and stay in the file when a client saves or changes the
// list.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { startHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const good = { id: 'good', provider: 'webhook', url: 'https://127.0.0.1/good-secret' };
const bad = { id: 'bad', provider: 'webhook', url: 'https://127.0.0.1/bad-secret', cooldown_sec: -1 };
const nameless = { provider: 'webhook', url: 'https://127.0.0.1/other-secret' };
const other = { id: 'other' };
/** A list of at most three. */
const PLACES = `config: z => {
  const place = z.object({ id: z.string().meta({ identity: true }), size: z.number().min(0).optional() })
  return z.object({ list: z.array(place).max(3).default([]) })
},`;

async function start(t: Test, destinations: readonly object[]) {
  const app = await startHost({
    plugins: ['config', 'notifications', 'notify-webhook'],
    config: { dumb: { notifications: { destinations } } },
  });
  t.teardown(() => app.stop());
  const kept = async () =>
    JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8')).dumb.notifications.destinations;
  const shown = async () => (await app.get('/notifications/config')).body.destinations;
  const save = (config: object) => app.post('/notifications/config', { config });
  return { app, kept, shown, save };
}

t.test('a save of the list as it was shown keeps the hidden items', async t => {
  const { app, kept, shown, save } = await start(t, [bad, { ...good, enabled: 'yes' }, nameless]);
  t.match(await shown(), [{ id: 'good' }]);
  const ways = [
    async () => save((await app.get('/notifications/config')).body),
    async () => app.post('/config', { updates: { dumb: (await app.get('/config')).body.dumb } }),
    async () => save({ destinations: await shown() }),
  ];
  for (const way of ways) {
    t.equal((await way()).status, 200);
    const [first, { url }, last, ...more] = await kept();
    t.same([first, url, last, more], [bad, good.url, nameless, []], 'is in the file with all that it had');
  }
});

t.test('a change of the list keeps the hidden items', async t => {
  const { kept, shown, save } = await start(t, [good, bad]);
  t.match((await save({ destinations: [...(await shown()), other] })).body, {
    destinations: [good.id, other.id].map(id => ({ id })),
  });
  t.match(await kept(), [good, bad, other]);
  t.equal((await save({ destinations: [] })).status, 200);
  t.same(await kept(), [bad], 'what was shown is removed alone');
  t.equal((await save({ max_attempts: 5 })).status, 200);
  t.match((await save({ destinations: [{ ...other, id: bad.id }] })).body, { destinations: [{ id: bad.id }] });
  t.match(await kept(), [{ id: bad.id, cooldown_sec: 300 }], 'another one with its identity takes its place');
  t.equal((await kept()).length, 1);
});

t.test('a list that becomes full loses the hidden items', async t => {
  const app = await startWithPlugins(
    t,
    { places: { more: PLACES, setup: '' } },
    { shipped: ['config'], config: { dumb: { places: { list: [{ id: 'x', size: -1 }, { id: 'a' }] } } } },
  );
  const kept = async () =>
    JSON.parse(await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8')).dumb.places.list;
  const save = (...ids: readonly string[]) =>
    app.post('/config', { updates: { dumb: { places: { list: ids.map(id => ({ id })) } } } });
  t.equal((await save('a', 'b')).status, 200);
  t.same(await kept(), [{ id: 'x', size: -1 }, { id: 'a' }, { id: 'b' }], 'while there is room they stay');
  t.equal((await save('a', 'b', 'c')).status, 200);
  t.same(await kept(), [{ id: 'a' }, { id: 'b' }, { id: 'c' }], 'has no room for what it could not show');
});
