// `/ws/metrics`: each client has its own interval, all share one text, and plugins can add members.
import type { Socket } from 'node:net';
import t from 'tap';
import type { WebSocket } from 'ws';
import { startHost, type TestHost } from '../../support/host.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames of any shape are looked into
type Frame = any;

function listen(app: TestHost, query = ''): { socket: WebSocket; frames: Frame[] } {
  const socket = app.ws(`/ws/metrics${query}`);
  const frames: Frame[] = [];
  socket.on('message', data => frames.push(JSON.parse(String(data))));
  return { socket, frames };
}

t.test('each client gets frames at its interval', async t => {
  const app = await startHost({ plugins: ['metrics'] });
  t.teardown(() => app.stop());
  const fast = listen(app, '?interval=0.5&history=false');
  const slow = listen(app, '?interval=10');
  const odd = listen(app, '?interval=soon&bootstrap=true');
  const raw = listen(app, '?history=1');
  await until(() => [fast, slow, odd, raw].every(({ frames }) => frames.length > 0));
  t.equal(slow.frames[0].type, 'snapshot', 'the first comes at once');
  t.type(slow.frames[0].data.timestamp, 'number');
  t.match(odd.frames[0], { type: 'bootstrap', items: [], timestamps: [], series: null, stats: null, truncated: false });
  t.equal(odd.frames[0].bucket_seconds, null);
  t.type(odd.frames[0].snapshot.timestamp, 'number');
  t.same(raw.frames[0], { type: 'history', items: [], truncated: false }, 'nothing is kept without a history');
  fast.socket.send('ping');
  fast.socket.send('{"type":"ping"}');
  await until(() => fast.frames.length >= 4);
  t.ok(
    fast.frames.every(({ type }) => type === 'snapshot'),
    'no ping is answered',
  );
  t.equal(slow.frames.length, 1, 'a fast client does not speed up the others');
  await until(() => odd.frames.filter(({ type }) => type === 'snapshot').length >= 2);
  for (const { socket } of [fast, slow, odd, raw]) socket.close();
});

t.test('plugins add members to samples', async t => {
  const app = await startWithPlugins(
    t,
    {
      columns: {
        more: "needs: ['metrics'],",
        setup: `
          host.contribute('metrics.introduction', 'columns', { members: async (kind, query) => kind === 'history' ? '"items":[' + query.history_limit + '],"truncated":true' : '"items":' })
          host.route({ method: 'GET', path: '/columns', summary: 'What is kept', access: 'public', async handle () {
            const sampler = host.find('metrics.sampler')
            const sample = await sampler.sample()
            return { kept: sampler.kept(sample), isShared: await sampler.sample(600_000) === sample, text: sampler.text(sample) }
          } })
          host.contribute('metrics.collector', 'temperature', { place: 'system', collect: () => 41.5 })
          host.contribute('metrics.collector', 'mood', { place: 'sample', collect: async () => ({ good: true, why: 'sun' }), kept: ({ good }) => ({ good }) })
          host.contribute('metrics.collector', 'poem', { place: 'sample', collect: () => 'la '.repeat(100_000) })
          host.contribute('metrics.collector', 'broken', { place: 'sample', collect: () => { throw new Error('no such thing') } })
          host.contribute('metrics.collector', 'rubbish', { place: 'sample', collect: () => ({ f: () => 1 }) })
          host.contribute('metrics.collector', 'late', { place: 'system', collect: () => new Promise(() => {}) })`,
      },
    },
    { shipped: ['config', 'metrics'] },
  );
  const { status, body } = await app.get('/metrics');
  t.equal(status, 200);
  t.equal(body.system.temperature, 41.5);
  t.same(body.mood, { good: true, why: 'sun' });
  t.equal(body.broken, null);
  t.equal(body.rubbish, null);
  t.equal(body.system.late, null);
  const { kept, isShared, text } = (await app.get('/columns')).body;
  t.same(kept.mood, { good: true }, 'a collector says what of its value is kept');
  t.equal(kept.system.temperature, 41.5);
  t.ok(isShared);
  t.equal(JSON.parse(text).timestamp, kept.timestamp);
  const { socket, frames } = listen(app, '?history=true&history_limit=7');
  let connection: Socket | undefined;
  socket.on('upgrade', response => {
    connection = response.socket;
  });
  await until(() => frames.length > 1);
  t.equal(frames[1].data.poem.length, 300_000);
  t.ok((connection?.bytesRead ?? Number.NaN) < 64 * 1024, 'what is long comes compressed');
  t.same(frames[0], { type: 'history', items: [7], truncated: true }, 'what a plugin tells of the past comes first');
  socket.close();
  const errors = app.host.plugins().find(({ name }) => name === 'columns')?.errors;
  t.ok((errors?.contribution ?? 0) >= 3, 'each fault is counted with its plugin');
});

t.test('a sample that cannot be taken closes no client', async t => {
  const setup = `
    let isBroken = true
    host.provide('process.supervisor', { list () { if (isBroken) throw new Error('no list'); return [] }, blocks: () => [] })
    host.route({ method: 'POST', path: '/mend', summary: 'Mends it', access: 'public', handle () { isBroken = false; return {} } })`;
  const app = await startWithPlugins(t, { broken: { setup } }, { shipped: ['config', 'metrics'] });
  const { status, body } = await app.get('/metrics');
  t.same([status, body], [503, { detail: 'Metrics are not available yet.' }]);
  const clients = ['?interval=0.5&bootstrap=true', '?interval=0.5'].map(query => listen(app, query));
  await until(() => clients.every(({ socket }) => socket.readyState === socket.OPEN));
  await app.post('/mend');
  await until(() => clients.every(({ frames }) => frames.some(({ type }) => type === 'snapshot')), {
    what: 'a sample for each',
  });
  for (const { socket } of clients) socket.close();
});
