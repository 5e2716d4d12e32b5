// Registrations that the host could not call, wait for or show are refused.
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

t.test('a registration that would fail in the host is refused', async t => {
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
    query: `host.route({ method: 'GET', path: '/query', summary: 'x', query: { q: 'text' }, handle: () => ({}) })`,
    body: `host.route({ method: 'POST', path: '/body', summary: 'x', body: {}, handle: () => ({}) })`,
    response: `host.route({ method: 'GET', path: '/response', summary: 'x', response: 'text', handle: () => ({}) })`,
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
    undescribed: `host.event('event.undescribed')`,
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
    query: /^'query' of GET \/query of query is no schema; make one with host\.z/,
    body: /^'body' of POST \/body of body is no schema/,
    response: /^'response' of GET \/response of response is no schema/,
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
    undescribed: /^the description of the event 'event.undescribed' of undescribed is no text/,
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
