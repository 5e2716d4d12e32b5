// The newest events, for clients that poll.
import t from 'tap';
import { EventRing } from '../../../plugins/host-events/event-ring.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const RINGER = `
  host.event('bell.rang', { description: 'The bell rang' });
  host.route({ method: 'POST', path: '/ring', summary: 'Rings', handle: () => (host.emit('bell.rang', { door: 'front' }), {}) });
`;

t.test('a client that names its last event gets each event once', async t => {
  const app = await startWithPlugins(t, { ringer: RINGER }, { shipped: ['config', 'host-events'] });
  const { last } = (await app.get('/host/events')).body;
  await app.post('/ring', {});
  await app.post('/ring', {});
  const { body } = await app.get(`/host/events?after=${last}`);
  t.match(body.events, [
    { id: last + 1, type: 'bell.rang', plugin: 'ringer', data: { door: 'front' } },
    { id: last + 2, type: 'bell.rang' },
  ]);
  t.same((await app.get(`/host/events?after=${body.last}`)).body, { events: [], last: body.last });
  t.equal((await app.get('/host/events?after=-1')).status, 422);
});

t.test('the newest events are kept, with increasing ids', async t => {
  const ring = new EventRing(3, 1_000);
  for (let at = 1; at <= 20; at += 1) ring.add({ type: 'rang', plugin: 'bell', at, data: {} } as never);
  t.same(
    ring.after(0).events.map(({ id, at }) => [id, at]),
    [
      [1_018, 18],
      [1_019, 19],
      [1_020, 20],
    ],
  );
  t.same(ring.after(1_020), { events: [], last: 1_020 });
});
