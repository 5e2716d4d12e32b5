// What plugins pass to each other in calls: data stays as it is, functions and signals keep their owner, and no call
// waits for them without a deadline.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('values pass between plugins as data, and functions keep their owner', async t => {
  const app = await startWithPlugins(t, {
    taker: `const kept = []
    const plans = host.hook('taker.plan', 'waterfall', { guarded: false })
    host.provide('taker', {
      call: fn => fn(),
      change (given) { given.list.push('more'); given.name = 'changed'; return given.tell() },
      keep (given) { kept.push(given) },
      kept: () => kept,
      things: () => kept,
      async plan (plan) { const made = await plans.promise(plan); return { isSame: made === plan, plan: made } }
    }, { deadlineMs: 200 })`,
    patient: `host.provide('patient', { call: fn => fn() }, { deadlineMs: 3_000 })`,
    giver: `class Thing { #secret = 'mine'; tell () { return this.#secret } }
    const route = (name, handle) => host.route({ method: 'POST', path: '/' + name, summary: 'x', handle })
    const taker = () => host.use('taker')
    route('hang', () => taker().call(() => new Promise(() => {})))
    let answer = Promise.resolve()
    const asked = () => answer
    route('both', async () => {
      await host.use('patient').call(asked)
      answer = new Promise(() => {})
      await taker().call(asked)
    })
    route('things', () => {
      const counts = []
      for (const round of [1, 2]) {
        taker().keep(new Thing())
        counts.push(taker().things().length)
      }
      return { counts, isSame: taker().things() === taker().things() }
    })
    route('change', () => {
      const given = { list: ['one'], name: 'before', tell () { return this.name } }
      return { told: taker().change(given), list: given.list, name: given.name }
    })
    route('keep', () => {
      const thing = new Thing()
      const data = { plain: ['data'] }
      taker().keep(thing)
      taker().keep(data)
      const [first, second] = taker().kept().slice(-2)
      return { own: first === thing, told: first.tell(), data: second === data }
    })
    const ownThing = new Thing()
    host.provide('giver.own', { isSame: ({ thing }) => thing === ownThing && thing.tell() === 'mine' })
    route('itself', () => ({ isSame: host.use('giver.own').isSame({ thing: ownThing }) }))
    route('plan', async () => {
      const { signal } = new AbortController()
      const { isSame, plan } = await taker().plan({ env: {}, argv: ['a'], signal })
      return { isSame, env: plan.env, argv: plan.argv }
    })
    route('listen', async () => {
      const entrance = host.use('http.entrance')
      const fault = () => { throw new Error('a fault of its listener') }
      const listener = await entrance.open({ host: '127.0.0.1', port: 0, request: fault, upgrade: fault })
      host.signal.addEventListener('abort', () => void listener.close(0))
      return { port: listener.port }
    })
    route('ports', async () => {
      const entrance = host.use('http.entrance')
      const before = entrance.ports()
      const { port, close } = await entrance.open({ host: '127.0.0.1', port: 0, request () {}, upgrade () {} })
      const during = entrance.ports()
      await close(0)
      return { before, port, during, after: entrance.ports() }
    })`,
    tapper: `host.tap('taker.plan', plan => { plan.env.A = '1'; plan.argv = ['b']; return plan })
    host.tap('taker.plan', plan => ({ ...plan, argv: [...plan.argv, 'c'] }))`,
  });
  const errorsOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.errors;

  await t.test('a callback has the deadline of the call that it was given to', async t => {
    const answer = await app.post('/hang');
    t.equal(answer.status, 503);
    t.match(answer.body.detail, 'a callback given to taker: call of giver takes longer than 200 ms and is left behind');
    t.match([errorsOf('giver'), errorsOf('taker')], [{ callback: 1 }, {}]);
  });

  await t.test('a callback that another plugin got before has the deadline of the present call', async t => {
    t.match((await app.post('/both')).body.detail, 'a callback given to taker: call of giver takes longer than 200 ms');
  });

  await t.test('what a plugin passes to itself is not wrapped', async t => {
    t.same((await app.post('/itself')).body, { isSame: true });
  });

  await t.test('a list shows items that its owner adds later', async t => {
    t.same((await app.post('/things')).body, { counts: [1, 2], isSame: true });
  });

  await t.test('the receiver can change an argument with functions', async t => {
    t.same((await app.post('/change')).body, { told: 'changed', list: ['one', 'more'], name: 'changed' });
  });

  await t.test('a plugin that gets back its own value gets the original', async t => {
    t.same((await app.post('/keep')).body, { own: true, told: 'mine', data: true });
  });

  await t.test('a plan with a signal passes through taps, which may return it or another', async t => {
    t.same((await app.post('/plan')).body, { isSame: false, env: { A: '1' }, argv: ['b', 'c'] });
  });

  await t.test('the ports of all listeners are known while they are open', async t => {
    const { before, port, during, after } = (await app.post('/ports')).body;
    t.same(before, [Number(new URL(app.base).port)]);
    t.same(during, [...before, port]);
    t.same(after, before);
  });

  await t.test("a fault in a plugin's own listener fails only the request", async t => {
    const { port } = (await app.post('/listen')).body;
    for (const round of [1, 2]) {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      t.equal(answer.status, 500);
      t.same(await answer.json(), { detail: 'Internal error' });
      await until(() => errorsOf('giver')?.callback === 2 + round);
    }
  });
});

t.test('accessors run as code of their owner, and only when they are read', async t => {
  const app = await startWithPlugins(t, {
    giver: `host.event('bell.rang', { description: 'A bell rang' })
    let reads = 0
    const thing = () => ({ plain: 1, get count () { return ++reads } })
    host.provide('things', {
      given: () => thing(),
      worn () { let isWorn = false; return { get count () { if (isWorn) throw new Error('worn'); isWorn = true; return 7 } } },
      reads: () => reads,
      counted: ({ count }) => count,
    })
    host.route({ method: 'POST', path: '/ring', summary: 'x', handle: () => { host.emit('bell.rang', { deep: [thing()] }); return {} } })`,
    reader: `let heard = null
    host.on('bell.rang', ({ data: { deep: [thing] } }) => { heard = [thing.count, thing.count] })
    const route = (name, handle) => host.route({ method: 'POST', path: '/' + name, summary: 'x', handle })
    const things = () => host.use('things')
    route('look', () => { things().given(); return { reads: things().reads() } })
    route('hand', () => ({ count: things().counted({ get count () { throw new Error('mine') } }) }))
    route('heard', () => ({ heard }))
    route('worn', () => { const thing = things().worn(); return { counts: [thing.count, thing.count] } })`,
  });
  const state = (name: string) => app.host.plugins().find(plugin => plugin.name === name);
  t.same((await app.post('/look')).body, { reads: 0 }, 'a result that nobody reads');
  t.equal((await app.post('/hand')).status, 500);
  t.match([state('reader')?.errors.callback, state('giver')?.errors], [1, { service: undefined }], 'an argument');
  await app.post('/ring');
  const heard = await until(async () => (await app.post('/heard')).body.heard, { what: 'the event' });
  t.same(heard, [1, 1], 'of an event they are read once, by whoever emits it');
  t.equal((await app.post('/worn')).status, 500);
  t.match([state('giver')?.errors.service, state('reader')?.errors.callback], [1, 1], 'a result');
});

t.test('nested thenables share one deadline', async t => {
  const app = await startWithPlugins(t, {
    giver: `const never = { then () {} }
    class Late extends Promise { then () { throw new Error('thrown by then') } }
    host.provide('things', {
      nested: () => ({ then (done) { done(never) } }),
      further: () => ({ then (done) { done({ then (done) { done('fine') } }) } }),
      own: () => Late.resolve('x'),
    }, { deadlineMs: 200 })`,
    taker: `host.route({ method: 'POST', path: '/{name}', summary: 'x',
      handle: async ({ params }) => ({ given: await host.use('things')[params.name]() }) })`,
  });
  const errorsOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.errors;
  t.match(await app.post('/nested'), { status: 503, body: { detail: /nested of giver takes longer than 200 ms/ } });
  t.match(await app.post('/further'), { status: 200, body: { given: 'fine' } });
  t.match(await app.post('/own'), { status: 500 });
  t.match([errorsOf('giver'), errorsOf('taker')], [{ service: 2 }, {}]);
});

t.test('iterators run as code of their owner, with a deadline for each step', async t => {
  const app = await startWithPlugins(t, {
    giver: `host.provide('rows', {
      own: () => ({ [Symbol.iterator] () { throw new Error('no beginning') } }),
      counted: async function* () { yield 1; yield 2 },
      broken: async function* () { yield 1; throw new Error('no second') },
      stuck: async function* () { yield 1; await new Promise(() => {}) },
      plain: function* () { yield 1; throw new Error('no second') },
    }, { deadlineMs: 200 })`,
    reader: `const route = (name, handle) => host.route({ method: 'POST', path: '/' + name, summary: 'x', handle })
    const collect = async rows => { const all = []; for await (const row of rows) all.push(row); return { all } }
    for (const name of ['own', 'counted', 'broken', 'stuck', 'plain']) route(name, () => collect(host.use('rows')[name]()))`,
  });
  const errorsOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.errors;
  t.same((await app.post('/counted')).body, { all: [1, 2] });
  for (const [count, name] of ['own', 'broken', 'plain'].entries()) {
    t.equal((await app.post(`/${name}`)).status, 500, name);
    t.match([errorsOf('giver')?.service, errorsOf('reader')?.service], [count + 1, undefined], name);
  }
  const stuck = await app.post('/stuck');
  t.match([stuck.status, stuck.body.detail], [503, /rows: stuck\(\)\.next of giver takes longer than 200 ms/]);
});
