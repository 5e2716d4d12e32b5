// The newest events, for clients that poll.
import t from 'tap';
import { EventRing } from '../../../plugins/host-events/event-ring.ts';
import { runCommand } from '../../support/command.ts';
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

t.test('a client whose last id is of a host with a clock that was ahead gets all', t => {
  const ring = new EventRing(3, 1_000);
  ring.add({ type: 'rang', plugin: 'bell', at: 1, data: {} } as never);
  t.match(ring.after(5_000), { events: [{ id: 1_001 }], last: 1_001 });
  t.same(ring.after(1_001).events, []);
  t.end();
});

t.test('the command prints events whose data is no object', async t => {
  const bell = `
    host.event('bell.rang', { description: 'The bell rang' });
    host.route({ method: 'POST', path: '/ring', summary: 'Rings', handle () {
      for (const data of [null, undefined, 5, ['a'], { door: 'front' }]) host.emit('bell.rang', data);
    } });`;
  const app = await startWithPlugins(t, { bell }, { shipped: ['config', 'host-events'] });
  await app.post('/ring', {});
  const { code, stdout, stderr } = await runCommand(app, 'events', '--type', 'bell.*');
  t.same([code, stderr], [0, '']);
  t.same(
    stdout.match(/bell.rang.*/g),
    ['data=null', 'data=null', 'data=5', 'data=["a"]', 'door="front"'].map(said => `bell.rang  ${said}`),
  );
});
