// Faults of a running plugin: caught, counted and shown at its entry, while everything else goes on.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { spawnStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a route that throws answers 500 with an id, and the log holds the cause under it', async t => {
  const dir = testDir(t, {
    faulty: {
      'index.js': `export default { name: 'faulty', host: '^1', setup (host) {
        host.route({ method: 'GET', path: '/boom', summary: 'x', handle () { throw new Error('the inner cause') } })
        host.route({ method: 'GET', path: '/fine', summary: 'x', handle: () => ({ ok: true }) })
      } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const answer = await app.get('/boom');
  t.equal(answer.status, 500);
  t.notMatch(answer.text, /inner cause|at .*index\.js/);
  t.match(answer.body.detail, /[0-9a-f]{6,}/, 'an id to look for');
  t.equal(app.host.plugins()[0]?.errors.route, 1);
  t.equal((await app.get('/fine')).status, 200);
});

t.test('work that ends because its client or its plugin goes is no fault', async t => {
  const wait =
    "new Promise((_, reject) => signal.addEventListener('abort', () => { ended += 1; reject(signal.reason) }))";
  const app = await startWithPlugins(t, {
    asked: {
      more: "after: ['asking'],",
      setup: `host.provide('asked.wait', { wait: signal => host.find('asking.work').wait(signal) })`,
    },
    asking: `
      let ended = 0
      let begun = 0
      host.provide('asking.work', { wait: signal => ${wait} })
      host.route({ method: 'GET', path: '/counts', summary: 'x', handle: () => ({ begun, ended }) })
      host.route({ method: 'GET', path: '/direct', summary: 'x', handle ({ signal }) { begun += 1; return ${wait} } })
      host.route({ method: 'GET', path: '/across', summary: 'x', handle ({ signal }) { begun += 1; return host.find('asked.wait').wait(signal) } })
      host.route({ method: 'GET', path: '/own', summary: 'x', handle () { begun += 1; const { signal } = host; return ${wait} } })`,
  });
  const counts = async () => (await app.get('/counts')).body as { begun: number; ended: number };
  const leave = new AbortController();
  const lost = ['/direct', '/across'].map(path =>
    fetch(app.base + path, { signal: leave.signal }).then(
      () => 'answered',
      () => 'gone',
    ),
  );
  await until(async () => (await counts()).begun === 2);
  leave.abort();
  t.same(await Promise.all(lost), ['gone', 'gone']);
  await until(async () => (await counts()).ended === 2);
  const own = app.get('/own');
  await until(async () => (await counts()).begun === 3);
  await app.host.stop();
  t.match(await own, { status: 503, body: { detail: 'The plugin asking is being stopped' } });
  for (const { name, errors } of app.host.plugins()) t.same(errors, {}, name);
  t.notMatch(await ownLog(app), / - ERROR - /);
});

t.test('taps, timers and jobs that throw are counted, and the others run', async t => {
  const seen: string[] = [];
  Object.assign(globalThis, { faultsSeen: seen });
  const dir = testDir(t, {
    'a-faulty': {
      'index.js': `export default { name: 'a-faulty', host: '^1', async setup (host) {
        host.tap('host.ready', () => { throw new Error('tap') })
        host.every(1, () => { throw new Error('timer') })
        const jobs = await host.jobs('doomed', { run: () => { throw new Error('job') } })
        host.route({ method: 'POST', path: '/job', summary: 'x', handle: () => jobs.run('key').catch(error => ({ caught: error.message })) })
      } }`,
    },
    'b-fine': {
      'index.js': `export default { name: 'b-fine', host: '^1', setup (host) {
        host.tap('host.ready', () => { globalThis.faultsSeen.push('ready') })
        host.every(1, () => { globalThis.faultsSeen.push('tick') })
      } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  t.same((await app.post('/job')).body, { caught: 'job' });
  await until(() => seen.includes('tick') && (app.host.plugins()[0]?.errors.timer ?? 0) > 1);
  t.equal(seen[0], 'ready');
  t.match(app.host.plugins()[0]?.errors, { tap: 1, job: 1 });
});

t.test('what the host would fail at by itself is refused when it is registered', async t => {
  const setups = {
    pong: `host.stream({ path: '/ws/pong', summary: 'x', pong: { type: 'pong' }, open () {} })`,
    flag: `host.capability(Symbol('flag'), () => true)`,
    deadline: `host.provide('deadline', {}, { deadlineMs: NaN })`,
    deadlines: `host.provide('deadlines', {}, { deadlinesMs: { wait: undefined, ask: NaN } })`,
    timer: `host.every(1000, undefined)`,
    schedule: `host.cron('* * * * *', 'run')`,
    flags: `host.route({ method: 'GET', path: '/flags', summary: 'x', capability: ['one', undefined], handle: () => ({}) })`,
    predicate: `host.capability('predicate', true)`,
    method: `host.route({ method: { toString: () => 'GET' }, path: '/method', summary: 'x', handle: () => ({}) })`,
    path: `host.route({ method: 'GET', path: ['/path'], summary: 'x', handle: () => ({}) })`,
    summary: `host.route({ method: 'GET', path: '/summary', summary: 10n, handle: () => ({}) })`,
    tag: `host.route({ method: 'GET', path: '/tag', summary: 'x', tag: { toJSON () { throw new Error('tag') } }, handle: () => ({}) })`,
    handler: `host.route({ method: 'GET', path: '/handler', summary: 'x' })`,
    patience: `host.route({ method: 'GET', path: '/patience', summary: 'x', deadlineMs: NaN, handle: () => ({}) })`,
    stream: `host.stream({ path: '/ws/stream', summary: 'x' })`,
    streams: `host.stream({ path: '/ws/streams', summary: Symbol('x'), open () {} })`,
    tap: `host.tap('config.changed', { promise () {} })`,
    taps: `host.tap('config.changed', () => new Promise(() => {}), { deadlineMs: NaN })`,
    hook: `host.hook('moment', 'seriesBail')`,
    hooks: `host.hook('moments', 'series', { deadlineMs: 'long' })`,
    point: `host.point('things', { schema: host.z.any(), deadlineMs: NaN })`,
    key: `host.contribute('things', 10n, {})`,
    service: `host.provide(10n, {})`,
    event: `host.event('event.declared', { description: { toJSON () { throw new Error('event') } } })`,
    listener: `host.on('*', undefined)`,
    work: `await host.jobs('work', { run: 'work' })`,
    jobs: `await host.jobs('jobs', { run () {}, concurrency: 0 })`,
    late: `await host.jobs('late', { run () {}, deadlineMs: NaN })`,
  };
  const app = await startWithPlugins(t, {
    ...setups,
    version: { more: `version: { toJSON () { throw new Error('version') } },`, setup: '' },
    neighbour: `host.capability('fine', () => true)
      host.route({ method: 'GET', path: '/capabilities', summary: 'x', handle: () => host.capabilities() })
      host.route({ method: 'GET', path: '/api', summary: 'x', handle: () => host.openapi() })
      host.route({ method: 'GET', path: '/events', summary: 'x', handle: () => host.events() })
      host.route({ method: 'GET', path: '/plugins', summary: 'x', handle: () => host.plugins() })
      let reads = 0
      host.route({ method: 'GET', path: '/once', handle: () => ({}),
        get summary () { reads += 1; if (reads > 1) throw new Error('summary'); return 'x' },
        query: host.z.object({ q: host.z.any().default(10n).meta({ toJSON () { throw new Error('meta') } }) }) })`,
  });
  const reasons = app.host.plugins().map(({ name, reason }) => [name, reason]);
  t.match(Object.fromEntries(reasons), {
    pong: /^the pong of the stream \/ws\/pong of pong is no text/,
    flag: /^the name of a capability of flag is no text/,
    flags: /^the name of a capability of flags is no text/,
    deadline: /^service 'deadline' of deadline has a deadline of NaN ms/,
    deadlines: /^service 'deadlines' of deadlines has a deadline of NaN ms/,
    timer: /^what a timer of timer is to run is no function/,
    schedule: /^what a schedule of schedule is to run is no function/,
    predicate: /^the predicate of the capability 'predicate' of predicate is no function/,
    method: /^the method of \/method of method is none of GET, POST, PUT, PATCH, DELETE/,
    path: /^the path of a route of path is no text/,
    summary: /^the summary of GET \/summary of summary is no text/,
    tag: /^the tag of GET \/tag of tag is no text/,
    handler: /^the handler of GET \/handler of handler is no function/,
    patience: /^GET \/patience of patience has a deadline of NaN ms/,
    stream: /^what opens the stream \/ws\/stream of stream is no function/,
    streams: /^the summary of the stream \/ws\/streams of streams is no text/,
    tap: /^the tap of tap on config.changed is no function/,
    taps: /^the tap of taps on config.changed has a deadline of NaN ms/,
    hook: /^hook 'moment' is of the kind 'seriesBail'; there are series, parallel and waterfall/,
    hooks: /^hook 'moments' of hooks has a deadline of long ms/,
    point: /^point 'things' of point has a deadline of NaN ms/,
    key: /^the key of what key contributes to things is no text/,
    service: /^the name of a service of service is no text/,
    event: /^the description of the event 'event.declared' of event is no text/,
    listener: /^the listener of listener on \* is no function/,
    work: /^the work of the jobs of work is no function/,
    jobs: /^0 jobs of jobs are to run at once; give a number from 1/,
    late: /^the kind of jobs late has a deadline of NaN ms/,
    version: /^its version is no text/,
    neighbour: null,
  });
  t.match(await app.get('/capabilities'), { status: 200, body: { fine: true } });
  for (const shown of ['/api', '/events', '/plugins', '/once']) t.equal((await app.get(shown)).status, 200, shown);
});

/** Runs the service with one third-party plugin in {config_dir}/plugins. */
async function withPlugin(
  t: Pick<typeof import('tap')['t'], 'testdir' | 'teardown'>,
  source: string,
  {
    answers = true,
    env = {},
    others = {},
  }: { answers?: boolean; env?: Record<string, string>; others?: Record<string, string> } = {},
) {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir);
  const own = Object.entries({ ...others, wild: source });
  for (const [name, text] of own) {
    await mkdir(path.join(configDir, 'plugins', name), { recursive: true });
    await writeFile(path.join(configDir, 'plugins', name, 'index.js'), text);
  }
  const options = { args: ['start', '--plugins', [...own.map(([name]) => name), 'host-plugins'].join()], env };
  const service = answers ? await startStackwarden(configDir, port, options) : spawnStackwarden(configDir, options);
  t.teardown(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
  });
  return service;
}

for (const name of ['Promise', 'Date', 'JSON.stringify', 'JSON.parse', 'setTimeout', 'Map']) {
  t.test(`a plugin that replaces ${name} for everybody fails by itself`, async t => {
    const { base, stdout } = await withPlugin(
      t,
      `export default { name: 'wild', host: '^1', setup () { globalThis.${name} = () => { throw new Error('replaced') } } }`,
    );
    const { plugins } = (await (await fetch(`${base}/host/plugins`)).json()) as { plugins: { name: string }[] };
    t.match(
      plugins.find(plugin => plugin.name === 'wild'),
      { state: 'failed', reason: /^Cannot assign to read only property '\w+' of object .*\(index\.js:1\)$/ },
    );
    t.match(stdout(), /wild: plugin wild failed/);
  });
}

t.test('a plugin that removes listeners of the process from everybody removes its own', async t => {
  const { base, child, exited, stdout } = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      for (const event of ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(event)
      host.route({ method: 'POST', path: '/wild', summary: 'x', handle () { setTimeout(() => { throw new Error('wild error') }, 10); return {} } })
    } }`,
  );
  await fetch(`${base}/wild`, { method: 'POST' });
  await until(() => stdout().includes('wild: uncaught failed'), { what: 'the fault of the plugin alone' });
  t.equal((await fetch(`${base}/host/plugins`)).status, 200);
  child.kill('SIGHUP');
  await until(() => stdout().includes('SIGHUP: the configuration is read again'), { what: 'the reload' });
  child.kill('SIGTERM');
  t.match(await exited, { code: 0 });
});

t.test('a plugin that ends the process for the fault of another is the one that is told of', async t => {
  const { base, exited, stderr } = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      host.route({ method: 'POST', path: '/wild', summary: 'x', handle () { setTimeout(() => { throw new Error('wild error') }, 10); return {} } })
    } }`,
    {
      others: {
        ender: `export default { name: 'ender', host: '^1', setup () { process.on('uncaughtException', () => process.exit(3)) } }`,
      },
    },
  );
  await fetch(`${base}/wild`, { method: 'POST' });
  t.match(await exited, { code: 70 });
  t.match(stderr(), /ender is not loaded again until its files change/);
});

for (const [name, body] of Object.entries({
  'a timer of its own that throws': `setTimeout(() => { throw new Error('wild error') }, 50)`,
  'a promise of its own that rejects': `setTimeout(() => { Promise.reject(new Error('wild error')) }, 50)`,
  'an emitter of its own without a listener for errors': `const e = new EventEmitter(); setTimeout(() => e.emit('error', new Error('wild error')), 50)`,
  'a microtask of its own that throws': `queueMicrotask(() => { throw new Error('wild error') })`,
  'a microtask of its own that throws a text': `setTimeout(() => queueMicrotask(() => { throw 'wild error' }), 50)`,
  'a listener of its own to what Node tells': `subscribe('http.server.request.start', () => { throw new Error('wild error') })`,
  'an accessor that the host reads': `host.every(10, () => {
    throw Object.defineProperty(new Error(), 'message', { get () { setTimeout(() => { throw new Error('wild error') }, 50); return 'x' } })
  })`,
})) {
  t.test(`${name} costs the plugin its place, not the host`, async t => {
    const service = await withPlugin(
      t,
      `import { EventEmitter } from 'node:events'
      import { subscribe } from 'node:diagnostics_channel'
      export default { name: 'wild', host: '^1', setup (host) {
        host.route({ method: 'GET', path: '/wild', summary: 'x', handle: () => ({}) })
        host.tap('host.ready', () => { ${body} })
        void [EventEmitter, subscribe]
      } }`,
    );
    const row = await until(async () => {
      const { plugins } = (await (await fetch(`${service.base}/host/plugins`)).json()) as {
        plugins: { name: string; state: string; reason: string }[];
      };
      return plugins.find(plugin => plugin.name === 'wild' && plugin.state === 'failed');
    });
    t.match(row.reason, /wild error/);
    t.equal((await fetch(`${service.base}/wild`)).status, 404);
  });
}

t.test('an uncaught error of the host itself ends it with 70', async t => {
  // Begun before there is any plugin.
  const outside = `const timer = setInterval(() => {
    if (!globalThis.isUp) return
    clearInterval(timer)
    throw new Error('of the host')
  }, 20).unref()`;
  const service = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) { host.tap('host.ready', () => { globalThis.isUp = true }) } }`,
    { answers: false, env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(outside)}` } },
  );
  t.same(await service.exited, { code: 70, signal: null });
  t.match(service.stdout() + service.stderr(), /of the host/);
});

const NO_END = `process.on('exit', () => { throw new Error('a wild listener') })
  process.on('uncaughtException', () => undefined)
  setInterval(() => undefined, 1000)`;
const AGAIN = `const again = () => { setImmediate(again); throw new Error('a wild end') }
  return () => { setImmediate(again) }`;
for (const [name, setup] of Object.entries({
  'listeners that keep the process from ending': NO_END,
  'code that throws until the end of the process': AGAIN,
})) {
  t.test(`${name} change nothing of how it ends`, async t => {
    const service = await withPlugin(t, `export default { name: 'wild', host: '^1', setup () { ${setup} } }`);
    service.child.kill('SIGTERM');
    const ended = await Promise.race([service.exited, new Promise(resolve => setTimeout(resolve, 30_000).unref())]);
    if (ended === undefined) service.child.kill('SIGKILL');
    t.same(ended, { code: 0, signal: null }, service.stderr());
  });
}

t.test('a plugin that blocks the event loop is named', async t => {
  const service = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      host.route({ method: 'GET', path: '/block', summary: 'x', handle: () => { const end = Date.now() + 1500; while (Date.now() < end); return {} } })
    } }`,
  );
  await fetch(`${service.base}/block`);
  await until(() => /stood still for \d+ ms; held up by wild: GET \/block/.test(service.stdout()));
});

t.test('whoever reads the output goes away, and nothing else changes', async t => {
  const service = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      host.route({ method: 'GET', path: '/say', summary: 'x', handle: () => { host.log.warn('said'); console.error('said'); return {} } })
    } }`,
  );
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  for (let round = 0; round < 20; round += 1) t.equal((await fetch(`${service.base}/say`)).status, 200);
  const { plugins } = (await (await fetch(`${service.base}/host/plugins`)).json()) as {
    plugins: { name: string; state: string; errors: object }[];
  };
  t.match(
    plugins.find(plugin => plugin.name === 'wild'),
    { state: 'ready', errors: {} },
  );
  service.child.kill('SIGTERM');
  t.same(await service.exited, { code: 0, signal: null });
});

t.test('what is thrown needs no text, and a Problem that cannot be sent is a fault', async t => {
  const service = await withPlugin(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      const faults = {
        thrown: () => { throw Object.create(null) },
        rejected: () => Promise.reject(Object.assign(new Error(''), { message: Object.create(null) })),
        status: () => { throw new host.Problem(99, 'no such status') },
        header: () => { throw new host.Problem(409, 'no such header', { headers: { 'x-a': 'b\\r\\nc' } }) },
        member: () => { throw new host.Problem(409, 'no such member', { extra: { size: 10n } }) },
      }
      for (const [name, handle] of Object.entries(faults)) host.route({ method: 'GET', path: '/' + name, summary: 'x', handle })
      host.route({ method: 'GET', path: '/later', summary: 'x', handle () { setTimeout(faults.thrown) } })
    } }`,
  );
  const wild = async () => {
    const { plugins } = (await (await fetch(`${service.base}/host/plugins`)).json()) as {
      plugins: { name: string; state: string; reason: string; errors: Record<string, number> }[];
    };
    return plugins.find(plugin => plugin.name === 'wild');
  };
  for (const name of ['thrown', 'rejected', 'status', 'header', 'member']) {
    const answer = await fetch(`${service.base}/${name}`);
    t.equal(answer.status, 500, name);
    t.match(await answer.json(), { detail: /^Internal error \(id [0-9a-f]{8}\)$/ }, name);
  }
  t.match(await wild(), { state: 'ready', errors: { route: 5 } });
  t.equal((await fetch(`${service.base}/later`)).status, 200);
  const failed = await until(async () => {
    const row = await wild();
    return row?.state === 'failed' ? row : undefined;
  });
  t.equal(failed.reason, 'uncaught error: an error without a text');
});

t.test('a listener of the log that fails is told of once, as its own', async t => {
  const heard: string[] = [];
  Object.assign(globalThis, { logHeardOfTest: heard });
  const app = await startWithPlugins(t, {
    hearer: `const isMeant = records => records.some(({ text }) => text.includes('to whom it may concern'))
      const hub = host.use('log.hub')
      hub.subscribe(records => { if (isMeant(records)) throw new Error('it throws') })
      hub.subscribe(async records => { if (isMeant(records)) throw new Error('it rejects') })
      hub.subscribe(records => { if (isMeant(records)) globalThis.logHeardOfTest.push('heard') })`,
    speaker: `host.route({ method: 'POST', path: '/speak', summary: 'x', handle () { host.log.info('to whom it may concern') } })`,
  });
  const errorsOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.errors;
  for (const round of [1, 2]) {
    t.equal((await app.post('/speak')).status, 200);
    await until(() => heard.length === round);
  }
  await until(() => errorsOf('hearer')?.callback === 2);
  t.same(errorsOf('speaker'), {});
  const log = await until(async () => {
    const text = await ownLog(app);
    return text.includes('it rejects') ? text : undefined;
  });
  t.equal(
    log.match(/hearer: callback failed \(index\.js:\d+\): a listener of the log \(it hears no more\): it /g)?.length,
    2,
  );
});

t.test('a plugin directory that cannot be read changes nothing while the host runs', async t => {
  const configDir = testDir(t);
  const app = await startHost({ configDir, config: {}, plugins: ['config'] });
  t.teardown(() => app.stop());
  const dirs = [`/${'d'.repeat(300)}`];
  await changeMainFile(configDir, ({ dumb, ...config }) => ({ ...config, dumb: { ...dumb, plugins: { dirs } } }));
  const log = await until(async () => {
    const text = await ownLog(app);
    return text.includes('the plugins stay as they are') ? text : undefined;
  });
  t.match(log, /cannot read the plugin directory/);
  t.equal((await app.get('/config')).status, 200);
});

t.test('a plugin that failed is told as such while its disposers still run', async t => {
  const configDir = testDir(t, { plugins: { 'slow-end': {} } });
  const release = path.join(configDir, 'release');
  const source = `import { existsSync } from 'node:fs';
    export default { name: 'slow-end', host: '^1', setup (host) {
      host.route({ method: 'POST', path: '/fail', summary: 'x', handle () { setTimeout(() => { throw new Error('oh') }); return {} } })
      return async () => { while (!existsSync('${release}')) await new Promise(resolve => setTimeout(resolve, 10)) }
    } }`;
  await writeFile(path.join(configDir, 'plugins', 'slow-end', 'index.js'), source);
  const port = await writeConfig(configDir, {});
  const plugins = ['config', 'process', 'auth', 'host-plugins', 'slow-end'];
  const host = await startHostProcess(port, {
    configDir,
    plugins,
    deadlines: { importMs: 60_000, setupMs: 60_000, disposeMs: 600_000 },
  });
  t.teardown(async () => {
    await writeFile(release, '');
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const row = async () => {
    const answer = (await host.json('/host/plugins')) as { plugins: { name: string; state: string; reason: string }[] };
    return answer.plugins.find(({ name }) => name === 'slow-end');
  };
  t.match(await row(), { state: 'ready' });
  await fetch(`${host.base}/fail`, { method: 'POST' });
  await until(async () => (await row())?.state === 'failed');
  t.match(await row(), { reason: /^uncaught error: oh/ });
  t.equal((await fetch(`${host.base}/fail`, { method: 'POST' })).status, 200, 'its disposer still runs');
  await writeFile(release, '');
  await until(async () => (await fetch(`${host.base}/fail`, { method: 'POST' })).status === 404);
});

t.test('an error that is its own cause, and one that throws when it is looked at', async t => {
  const configDir = testDir(t, {
    plugins: {
      odd: {
        'index.js': `export default { name: 'odd', host: '^1', setup (host) {
          const trap = () => { throw new Error('a trap') }
          const proxy = () => new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap })
          const ring = new Error('a ring', { cause: new Error('the other end') })
          ring.cause.cause = ring
          host.route({ method: 'GET', path: '/ring', summary: 'x', handle () { throw ring } })
          host.route({ method: 'GET', path: '/proxy', summary: 'x', async handle () { throw proxy() } })
          host.route({ method: 'GET', path: '/twice', summary: 'x', async handle () {
            let looks = 0
            const get = () => { if (looks++ > 0) trap() }
            throw Object.defineProperty(new Error('looked at twice'), 'cause', { get })
          } })
          host.route({ method: 'POST', path: '/later', summary: 'x', handle () { setTimeout(() => { throw proxy() }); return {} } })
        } }`,
      },
    },
  });
  const port = await writeConfig(configDir, {});
  const host = await startHostProcess(port, {
    configDir,
    plugins: ['config', 'process', 'auth', 'host-plugins', 'odd'],
  });
  t.teardown(async () => {
    host.child.kill('SIGKILL');
    await host.exited;
  });
  const ask = (route: string, method = 'GET') =>
    fetch(host.base + route, { method, signal: AbortSignal.timeout(30_000) });
  const row = async () => {
    const { plugins } = (await (await ask('/host/plugins')).json()) as { plugins: { name: string; errors: object }[] };
    return plugins.find(({ name }) => name === 'odd');
  };
  for (const route of ['/ring', '/proxy', '/twice']) t.equal((await ask(route)).status, 500, route);
  t.match(await row(), { state: 'ready', errors: { route: 3 } });
  t.equal((await ask('/later', 'POST')).status, 200);
  await until(async () => /an error without a text/.test(JSON.stringify(await row())));
  t.match(await row(), { state: 'failed', errors: { uncaught: 1 } });
});

t.test('the members of a plugin are read as its own', async t => {
  const configDir = testDir(t, {
    plugins: {
      'odd-members': {
        'index.js': `export default new (class {
          name = 'odd-members'
          host = '^1'
          get version () { setTimeout(() => { throw new Error('later of version') }); return '1.2.3' }
          greeting = 'hello'
          config (z) { return z.object({ text: z.string().default(this.greeting) }) }
          setup () {}
        })()`,
      },
    },
  });
  const port = await writeConfig(configDir, {});
  const host = await startHostProcess(port, {
    configDir,
    plugins: ['config', 'process', 'auth', 'host-plugins', 'odd-members'],
  });
  t.teardown(async () => {
    host.child.kill('SIGKILL');
    await host.exited;
  });
  const row = await until(async () => {
    const { plugins } = (await host.json('/host/plugins')) as { plugins: { name: string; state: string }[] };
    return plugins.find(({ name, state }) => name === 'odd-members' && state === 'failed');
  });
  t.match(row, { version: '1.2.3', reason: /^uncaught error: later of version/, errors: { uncaught: 1 } });
});
