// Hooks, contributions, services and capabilities as plugins use them: their order, their refusal, and their end with
// their plugin.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost, type TestHostOptions } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const plugin = (name: string, body: string, extra = '') => ({
  'index.js': `export default { name: '${name}', host: '^1', ${extra} async setup (host) { ${body} } }`,
});

const stateOf = (app: TestHost, name: string) => app.host.plugins().find(row => row.name === name);

/** Starts a host with watched plugin folders, so that deleting a folder unloads its plugin. */
async function startWith(
  t: Pick<typeof import('tap')['t'], 'testdir' | 'teardown'>,
  plugins: Record<string, { 'index.js': string }>,
  options: TestHostOptions = {},
) {
  const configDir = testDir(t, { plugins });
  const app = await startHost({ configDir, config: {}, plugins: Object.keys(plugins), ...options });
  t.teardown(() => app.stop());
  return { app, remove: (name: string) => rm(path.join(configDir, 'plugins', name), { recursive: true }) };
}

t.test('a waterfall passes its value on, also after taps that return nothing or throw', async t => {
  const { app, remove } = await startWith(t, {
    owner: plugin(
      'owner',
      `const hook = host.hook('fixture.text', 'waterfall')
       host.route({ method: 'GET', path: '/text', summary: 'x', handle: async () => ({ text: await hook.promise('a') }) })`,
    ),
    late: plugin('late', `host.tap('fixture.text', text => text + 'c', { stage: 10 })`),
    early: plugin('early', `host.tap('fixture.text', text => text + 'b', { stage: -10 })`),
    silent: plugin('silent', `host.tap('fixture.text', () => undefined)`),
    thrower: plugin('thrower', `host.tap('fixture.text', () => { throw new Error('no') })`),
  });
  t.same((await app.get('/text')).body, { text: 'abc' });
  t.equal(stateOf(app, 'thrower')?.errors.tap, 1);
  t.equal(stateOf(app, 'owner')?.errors.tap, undefined, 'the owner is not blamed');

  await remove('late');
  await until(async () => (await app.get('/text')).body.text === 'ab', { what: 'the tap to go with its plugin' });
});

t.test('a tap of an unguarded hook can refuse, and the caller gets the refusal', async t => {
  const { app } = await startWith(t, {
    owner: plugin(
      'owner',
      `const hook = host.hook('fixture.veto', 'series', { guarded: false })
       host.route({ method: 'POST', path: '/veto', summary: 'x', handle: async () => { await hook.promise(); return {} } })`,
    ),
    refuser: plugin('refuser', `host.tap('fixture.veto', () => { throw new host.Problem(409, 'Not now') })`),
  });
  const answer = await app.post('/veto');
  t.equal(answer.status, 409);
  t.same(answer.body, { detail: 'Not now' });
  t.same(stateOf(app, 'refuser')?.errors, {}, 'a refusal is no fault');
});

t.test('a name with an owner cannot be taken until its owner is gone', async t => {
  const second = (name: string, body: string) => plugin(name, body, `after: ['first'],`);
  const { app, remove } = await startWith(t, {
    first: plugin(
      'first',
      `host.provide('fixture.clock', { now: () => 1 })
       host.hook('fixture.moment', 'series')
       host.contribute('fixture.list', 'one', 1)
       host.capability('fixture_flag', () => true)
       host.capability('fixture_broken_flag', () => { throw new Error('no') })`,
    ),
    service: second('service', `host.provide('fixture.clock', { now: () => 2 })`),
    hook: second('hook', `host.hook('fixture.moment', 'series')`),
    contribution: second('contribution', `host.contribute('fixture.list', 'one', 2)`),
    capability: second('capability', `host.capability('fixture_flag', () => true)`),
    reader: plugin(
      'reader',
      `host.route({ method: 'GET', path: '/read', summary: 'x', handle: () => ({
         now: host.find('fixture.clock')?.now() ?? null,
         list: [...host.contributions('fixture.list')].map(row => ({ ...row })),
         flags: host.capabilities(),
       }) })
       host.route({ method: 'GET', path: '/now', summary: 'x', handle: () => ({ now: host.use('fixture.clock').now() }) })`,
    ),
  });
  t.match(stateOf(app, 'service'), { state: 'failed', reason: /'fixture\.clock'.*already provided by first/ });
  t.match(stateOf(app, 'hook'), { state: 'failed', reason: /'fixture\.moment'.*already owned by first/ });
  t.match(stateOf(app, 'contribution'), { state: 'failed', reason: /'one'.*already contributed by first/ });
  t.match(stateOf(app, 'capability'), { state: 'failed', reason: /'fixture_flag'.*already owned by first/ });
  t.same((await app.get('/read')).body, {
    now: 1,
    list: [{ owner: 'first', key: 'one', value: 1 }],
    flags: { fixture_broken_flag: false, fixture_flag: true },
  });
  t.same((await app.get('/now')).body, { now: 1 });

  await remove('first');
  await until(async () => (await app.get('/read')).body.now === 2, { what: 'the service of who had lost' });
  await until(() => ['hook', 'contribution', 'capability'].every(name => stateOf(app, name)?.state === 'ready'));
  t.match((await app.get('/read')).body, {
    list: [{ owner: 'contribution', key: 'one', value: 2 }],
    flags: { fixture_flag: true },
  });
  for (const name of ['service', 'contribution', 'capability']) await remove(name);
  await until(async () => (await app.get('/read')).body.now === null, { what: 'the service to go with its plugin' });
  await until(async () => {
    const { list, flags } = (await app.get('/read')).body;
    return list.length === 0 && Object.keys(flags).length === 0;
  });
  const { status, body } = await app.get('/now');
  t.equal(status, 503);
  t.match(body.detail, /fixture\.clock/);
});

t.test('values of a point can define flags, which belong to their contributors', async t => {
  const { app, remove } = await startWith(t, {
    owner: plugin(
      'owner',
      `host.point('fixture.flagged', { schema: host.z.string(), flags: value => ({ ['fixture_' + value]: true, fixture_off: false }) })
       host.capability('fixture_own', () => true)
       host.route({ method: 'GET', path: '/flags', summary: 'x', handle: () => host.capabilities() })`,
    ),
    first: plugin('first', `host.contribute('fixture.flagged', 'one', 'one')`, `needs: ['owner'],`),
    second: plugin('second', `host.contribute('fixture.flagged', 'two', 'own')`, `needs: ['owner'],`),
  });
  t.same((await app.get('/flags')).body, { fixture_off: false, fixture_one: true, fixture_own: true });
  t.match(stateOf(app, 'first'), { state: 'ready', capabilities: ['fixture_one', 'fixture_off'] });
  t.match(stateOf(app, 'second'), { state: 'ready', capabilities: [] }, 'what another has already is left out');
  await remove('first');
  await until(async () => (await app.get('/flags')).body.fixture_one === undefined, { what: 'the flag to go' });
});

t.test('a promise from an immediate function is a fault', async t => {
  const { app } = await startWith(t, {
    owner: plugin(
      'owner',
      `host.point('fixture.now', { schema: host.z.looseObject({}), immediate: ['now'] })
       const told = name => { try { return host.contributions('fixture.now').get('one').value[name]() } catch (error) { return error.message } }
       host.route({ method: 'GET', path: '/now', summary: 'x', handle: async () => ({ now: await told('now'), later: await told('later') }) })`,
    ),
    giver: plugin(
      'giver',
      `host.contribute('fixture.now', 'one', { now: async () => { throw new Error('unheard') }, later: async () => 1 })`,
    ),
  });
  t.same((await app.get('/now')).body, { now: 'it gives a promise, for which nobody waits', later: 1 });
  t.match(stateOf(app, 'giver'), { state: 'ready', errors: { contribution: 1, uncaught: undefined } });
});

t.test('instances, accessors and functions work after they are passed on', async t => {
  const { app } = await startWith(t, {
    giver: plugin(
      'giver',
      `class Counter { #count; constructor (count) { this.#count = count } get count () { return this.#count } add () { this.#count += 1; return this } }
       host.contribute('fixture.things', 'all', { counters: [new Counter(1), new Counter(10)], made: new Date(0), plain: { deep: true } })
       const listeners = new Set()
       host.provide('fixture.bell', {
         on: listener => { listeners.add(listener); return () => listeners.delete(listener) },
         ring: () => { for (const listener of listeners) listener(); return listeners.size },
         counter: () => new Counter(5),
       })`,
    ),
    reader: plugin(
      'reader',
      `host.route({ method: 'GET', path: '/read', summary: 'x', handle: () => {
         const { counters: [one, ten], made, plain } = host.contributions('fixture.things').get('all').value
         one.add(); ten.add().add()
         const bell = host.use('fixture.bell')
         const heard = []
         const off = bell.on(() => heard.push(host.name))
         const rung = bell.ring()
         off()
         return { counts: [one.count, ten.count], made: made.toISOString(), plain, heard, rung, after: bell.ring(), five: bell.counter().add().count }
       } })`,
    ),
  });
  t.same((await app.get('/read')).body, {
    counts: [2, 12],
    made: '1970-01-01T00:00:00.000Z',
    plain: { deep: true },
    heard: ['reader'],
    rung: 1,
    after: 0,
    five: 6,
  });
});

t.test('members with names that every object has are like others', async t => {
  const { app } = await startWith(t, {
    giver: plugin(
      'giver',
      `host.contribute('fixture.list', 'one', { toString: () => 'mine', call: () => 'fine' })
       host.provide('fixture.slow', { valueOf: () => new Promise(() => {}) }, { deadlineMs: 100, deadlinesMs: { call: 60_000 } })`,
    ),
    reader: plugin(
      'reader',
      `const list = host.point('fixture.list', { schema: host.z.any(), answers: { call: host.z.string() } })
       host.route({ method: 'GET', path: '/text', summary: 'x', handle: () => ({ text: String(list.get('one').value) }) })
       host.route({ method: 'GET', path: '/value', summary: 'x', handle: async () => ({ value: await host.use('fixture.slow').valueOf() }) })`,
    ),
  });
  t.match(await app.get('/text'), { status: 200, body: { text: 'mine' } });
  t.match(await app.get('/value'), { status: 503, body: { detail: /valueOf of giver takes longer than 100 ms/ } });
  t.same(stateOf(app, 'reader')?.errors, {}, 'no schema of the point was asked');
});

t.test('a timer without an interval above zero is refused', async t => {
  const { app } = await startWith(t, {
    restless: plugin('restless', 'host.every(Number(undefined), () => {})'),
    eager: plugin('eager', 'host.every(0, () => {})'),
  });
  t.match(stateOf(app, 'restless'), { state: 'failed', reason: /a timer of restless has a pause of NaN ms/ });
  t.match(stateOf(app, 'eager'), { state: 'failed', reason: /it must be above 0/ });
});

t.test('timers and jobs never overlap themselves, and their faults are counted', async t => {
  const { app } = await startWith(t, {
    worker: plugin(
      'worker',
      `const seen = { every: [0, 0, 0], cron: [0, 0, 0], job: [0, 0, 0] }
       const track = name => async () => {
         const row = seen[name]
         row[0] += 1
         row[1] = Math.max(row[1], row[0])
         await new Promise(resolve => setTimeout(resolve, 1_300))
         row[0] -= 1
         row[2] += 1
         throw new Error(name)
       }
       host.every(1, track('every'))
       host.cron('* * * * * *', track('cron'))
       const jobs = await host.jobs('fixture', { run: track('job') })
       host.tap('host.ready', () => { for (let i = 0; i < 3; i += 1) jobs.run('key').catch(() => {}) })
       host.route({ method: 'GET', path: '/seen', summary: 'x', handle: () => seen })`,
    ),
  });
  const seen = await until(
    async () => {
      const { body } = await app.get('/seen');
      return body.every[2] > 1 && body.cron[2] > 1 && body.job[2] > 0 ? body : undefined;
    },
    { what: 'two runs of each timer' },
  );
  for (const name of ['every', 'cron', 'job']) t.equal(seen[name][1], 1, `${name} ran once at a time`);
  t.equal(seen.job[2], 1, 'three callers, one run');
  const errors = stateOf(app, 'worker')?.errors;
  t.equal(errors?.job, 1);
  t.ok((errors?.timer ?? 0) >= 4);
});

t.test('a capability whose predicate returns a promise is a fault', async t => {
  const { app } = await startWith(t, {
    hasty: plugin('hasty', `host.capability('fixture_hasty', async () => true)`),
    failing: plugin('failing', `host.capability('fixture_failing', async () => { throw new Error('no') })`),
    wordy: plugin('wordy', `host.capability('fixture_wordy', () => 'yes')`),
    route: plugin(
      'route',
      `host.route({ method: 'GET', path: '/flags', summary: 'x', handle: () => ({ ...host.capabilities() }) })`,
    ),
  });
  const { body } = await app.get('/flags');
  t.match(body, { fixture_hasty: false, fixture_failing: false, fixture_wordy: false });
  for (const [name, given] of Object.entries({ hasty: 'a promise', failing: 'a promise', wordy: 'string' })) {
    const line = `the predicate of fixture_${name} gives ${given} instead of true or false`;
    t.ok(
      (await ownLog(app)).some(logged => logged.includes(line)),
      line,
    );
  }
  t.same(stateOf(app, 'hasty')?.errors, stateOf(app, 'wordy')?.errors, 'counted as often as any other wrong value');
});

t.test('contributions that no plugin reads are logged once', async t => {
  const { app } = await startWith(t, {
    giver: plugin(
      'giver',
      `for (const key of ['one', 'two']) {
         host.contribute('fixture.orphan', key, {})
         host.contribute('fixture.wanted', key, {})
       }`,
    ),
    reader: plugin('reader', `host.contributions('fixture.wanted')`),
  });
  t.equal(stateOf(app, 'giver')?.state, 'ready');
  const told = await until(async () => {
    const found = (await ownLog(app)).filter(line => line.includes('which no loaded plugin has'));
    return found.length > 0 ? found : undefined;
  });
  t.equal(told.length, 1);
  t.match(told[0], /fixture\.orphan/);
});

t.test('waits of the product follow the pace of the host', async t => {
  const asking = {
    asker: plugin(
      'asker',
      `host.route({ method: 'GET', path: '/pace', summary: 'x', handle: () => ({ ms: host.paced(1_000) }) })`,
    ),
  };
  for (const [pace, ms] of [
    [0.25, 250],
    [1, 1_000],
  ] as const) {
    const { app } = await startWith(t, asking, { pace });
    t.same((await app.get('/pace')).body, { ms });
  }
});
