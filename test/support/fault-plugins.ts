// Plugins that each hand over one kind of thing with one kind of fault in it, and the plugin that calls these things.

/** What goes wrong inside a function; `good` is what it should return. */
const FAULTS = {
  throws: `throw new Error('fault of ' + NAME)`,
  rejects: `return Promise.reject(new Error('fault of ' + NAME))`,
  'never-ends': `return new Promise(() => {})`,
  'throws-later': `setTimeout(() => { throw new Error('fault of ' + NAME) }, 5); return good`,
  'emits-error': `const emitter = new EventEmitter()
    setTimeout(() => emitter.emit('error', new Error('fault of ' + NAME)), 5); return good`,
  // Blocks as a synchronous call that waits for a slow disk does, without processor time.
  blocks: `const limitMs = NAME.includes('route') ? 3_000 : 900
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limitMs); return good`,
  'gives-rubbish': `return 10n`,
  // The rejection is an object that throws at every access.
  'rejects-proxy': `const trap = () => { throw new Error('fault of ' + NAME) }
    return Promise.reject(new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap }))`,
} as const;

export type Fault = keyof typeof FAULTS;

/** How each kind of thing is handed over; `fault(good)` runs the fault, `once(good)` only when the cell is armed. */
const KINDS = {
  route: `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: () => fault('fine') })`,
  'stream-open': `host.stream({ path: '/ws/' + NAME, summary: 'x', open: () => fault(undefined) })`,
  'stream-close': `host.stream({ path: '/ws/' + NAME, summary: 'x', open: () => () => fault(undefined) })`,
  capability: `host.capability(NAME.replaceAll('-', '_'), () => once(true))`,
  'tap-parallel': `host.tap('cell.' + NAME, () => fault(undefined))`,
  'tap-series': `host.tap('cell.' + NAME, () => fault(undefined))`,
  'tap-waterfall': `host.tap('cell.' + NAME, () => fault('fine'))`,
  'tap-veto': `host.tap('cell.' + NAME, () => fault(undefined))`,
  'tap-veto-waterfall': `host.tap('cell.' + NAME, () => fault('fine'))`,
  contribution: `host.contribute('cell.point', NAME, { call: () => fault('fine') })`,
  instance: `class Thing { #good = 'fine'; call () { return fault(this.#good) } }
    host.contribute('cell.point', NAME, { call: () => 'fine', deep: { list: [new Thing()] } })`,
  accessor: `host.contribute('cell.point', NAME, { call: () => 'fine', get value () { return fault('fine') } })`,
  service: `host.provide('cell.' + NAME, { call: () => fault('fine') })`,
  returned: `host.provide('cell.' + NAME, { call: () => () => fault('fine') })`,
  'deep-result': `host.provide('cell.' + NAME, { call: () => ({ a: { b: { c: { call: () => fault('fine') } } } }) })`,
  'map-member': `host.contribute('cell.point', NAME, { call: () => 'fine', map: new Map([['it', () => fault('fine')]]) })`,
  'native-subclass': `class Things extends Map { call () { return fault('fine') } }
    host.contribute('cell.point', NAME, { call: () => 'fine', things: new Things() })`,
  callback: `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => ({ answer: await host.use('cell.caller').call(() => fault('fine')) }) })`,
  'callback-member': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => ({ answer: await host.use('cell.caller').callMember({ call: () => fault('fine') }) }) })`,
  'callback-of-instance': `class Thing { #good = 'fine'; call () { return fault(this.#good) } }
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => ({ answer: await host.use('cell.caller').callMember(new Thing()) }) })`,
  'callback-to-contribution': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => ({ answer: await host.contributions('cell.taker').get('caller').value.take({ call: () => fault('fine') }) }) })`,
  'hook-argument': `const hook = host.hook('own.' + NAME, 'parallel', { guarded: false })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => { await hook.promise({ call: () => fault('fine') }); return {} } })`,
  'tap-gives-function': `host.tap('cell.' + NAME, () => ({ call: () => fault('fine') }))`,
  'answer-member': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: () => ({ get answer () { return fault('fine') } }) })`,
  'problem-member': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle () { throw new host.Problem(400, 'x', { extra: { get answer () { return fault('fine') } } }) } })`,
  'answer-stream': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: () => new Readable({ read () {
    Promise.resolve(fault('fine')).then(text => { this.push(text); this.push(null) }, error => this.destroy(error)) } }) })`,
  'answer-stream-end': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: () => new Readable({
    read () { this.push('fine'); this.push(null) }, destroy (error, done) { fault(undefined); done() }, autoDestroy: false }) })`,
  thenable: `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: () => ({ then: (...both) => { Promise.resolve(fault('fine')).then(...both) } }) })`,
  'query-schema': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    query: host.z.object({}).transform(() => fault({})), handle: () => ({}) })`,
  'body-schema': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    body: host.z.object({}).transform(() => fault({})), handle: () => ({}) })`,
  'job-input': `const jobs = host.jobs('cell', { input: host.z.any().transform(() => fault({})), run: () => 'fine' })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
      handle: async () => ({ answer: await (await jobs).run('the-key', {}) }) })`,
  'job-watcher': `const jobs = host.jobs('cell', { run: () => 'fine' })
    jobs.then(kind => kind.watch(({ state }) => (state === 'succeeded' ? fault(undefined) : undefined)))
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
      handle: async () => ({ answer: await (await jobs).run('the-key') }) })`,
  'job-pinned': `const jobs = host.jobs('cell', { run: () => 'fine', keep: { records: 1, pinned: () => fault(true) } })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
      handle: async () => { await (await jobs).run('one'); await (await jobs).run('two'); return { answer: await (await jobs).run('three') } } })`,
  'log-subscriber': `host.use('log.hub').subscribe(records => records.some(({ text }) => text.includes('say ' + NAME)) ? fault(undefined) : undefined)
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: () => { host.log.info('say ' + NAME); return {} } })`,
  'any-listener': `host.on('*', ({ data }) => data.name === NAME ? fault(undefined) : undefined)`,
  'host-signal': `host.signal.addEventListener('abort', () => fault(undefined))`,
  'request-signal': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: ({ signal }) => new Promise(() => signal.addEventListener('abort', () => fault(undefined))) })`,
  'stream-signal': `host.stream({ path: '/ws/' + NAME, summary: 'x',
    open: ({ signal }) => signal.addEventListener('abort', () => fault(undefined)) })`,
  'job-signal': `const jobs = host.jobs('cell', { run: ({ signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => fault(undefined)); signal.addEventListener('abort', reject) }) })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', async handle () {
      const { id } = await (await jobs).start('the-key'); await (await jobs).cancel(id); return {} } })`,
  'lent-signal': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', async handle () {
    await host.use('cell.caller').lend(({ signal }) => signal.addEventListener('abort', () => fault(undefined))); return {} } })`,
  'tapped-signal': `host.tap('cell.' + NAME, ({ signal }) => signal.addEventListener('abort', () => fault(undefined)))`,
  'point-schema': `host.point('owned.' + NAME, { schema: host.z.any().refine(() => fault(true)) })`,
  'point-flags': `host.point('owned.' + NAME, { schema: host.z.any(), flags: () => fault({}) })`,
  'point-answers': `const list = host.point('owned.' + NAME,
      { schema: host.z.any(), answers: { call: host.z.any().refine(() => fault(true)) } })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => ({ answer: await list.get('caller').value.call() }) })`,
  'hook-schema': `const hook = host.hook('owned.' + NAME, 'waterfall', { schema: host.z.any().refine(() => fault(true)) })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => ({ answer: await hook.promise('fine') }) })`,
  'block-schema': `const { z } = host
    const schema = z.looseObject({ [NAME]: z.string().optional().refine(v => v === undefined || fault(true)) })
    host.contribute('config.block', NAME, { schema })`,
  'block-defaults': `host.contribute('config.block', NAME, { schema: host.z.looseObject({}), defaults: () => once([]) })`,
  template: `host.contribute('config.template', NAME, { path: [NAME, 'instances', 'a'], block: name => name === 'a' ? {} : fault({}) })`,
  'section-schema': `host.contribute('config.schema', NAME, { path: [NAME],
    schema: host.z.object({ text: host.z.string().default('').refine(v => v === '' || fault(true)) }) })`,
  'section-json': `host.contribute('config.schema', NAME, { path: [NAME], schema: host.z.object({}), jsonSchema: made => once(made) })`,
  'answer-schema': `host.route({ method: 'GET', path: '/cell/' + NAME, summary: 'x', handle: () => ({}), get response () { return once(undefined) } })`,
  'tap-config-check': `host.tap('config.check', () => once(undefined))`,
  'tap-config-changed': `host.tap('config.changed', () => once(undefined))`,
  'update-member': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => {
    await host.use('config.store').update({ updates: { dumb: { get frontend () { return fault({}) } } }, persist: false }); return {} } })`,
  'event-member': `host.event('cell.' + NAME, { description: 'x' })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: () => { host.emit('cell.' + NAME, { get it () { return fault('fine') } }); return {} } })`,
  'request-body': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async ({ headers }) => {
    const body = (async function * () { yield await fault('fine') })()
    await host.fetch('http://' + headers.host + '/call/none/none', { method: 'POST', body }); return {} } })`,
  'own-listener': `const opened = host.use('http.entrance').open({ host: '127.0.0.1', port: 0, upgrade () {},
      request (request, response) { response.end('fine'); return fault(undefined) } })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => { await host.fetch('http://127.0.0.1:' + (await opened).port); return {} } })
    return async () => { await (await opened).close(0) }`,
  'job-details': `const jobs = host.jobs('cell', { run: ({ report }) => { report({ details: { get it () { return fault('fine') } } }); return 'fine' } })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => ({ answer: await (await jobs).run('the-key') }) })`,
  statement: `const cells = host.database('cells', { statements: 'index' })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => ({ answer: await cells.call('statement') }) })`,
  rows: `const cells = host.database('cells', { statements: 'index' })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => { for await (const row of cells.rows('rows')) void row; return {} } })`,
  migration: `const cells = host.database('cells', { statements: 'index' })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x', handle: async () => { await cells.open(); return {} } })`,
  'child-listener': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: () => { spawn('true').on('exit', () => fault(undefined)); return {} } })`,
  'file-callback': `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: () => { readFile('/proc/self/stat', () => fault(undefined)); return {} } })`,
  timer: `host.every(20, () => once(undefined))`,
  schedule: `host.cron('* * * * * *', () => once(undefined))`,
  job: `const jobs = host.jobs('cell', { run: () => fault('fine'), deadlineMs: 300 })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
      handle: async () => ({ answer: await (await jobs).run('the-key') }) })`,
  listener: `host.on('cell.moved', ({ data }) => data.name === NAME ? fault(undefined) : undefined)`,
  disposer: `return () => fault(undefined)`,
} as const;

export type Kind = keyof typeof KINDS;

const CALLED: readonly Fault[] = ['throws', 'rejects', 'never-ends', 'throws-later'];
const HEARD: readonly Fault[] = ['throws', 'rejects', 'throws-later'];
/**
 * Kinds that share their containment with others, or whose answer nobody waits for, are tried with some faults only.
 */
const FAULTS_OF: Partial<Record<Kind, readonly Fault[]>> = {
  'answer-member': ['throws', 'rejects', 'throws-later', 'emits-error', 'blocks', 'gives-rubbish'],
  'problem-member': ['throws', 'throws-later'],
  'answer-stream': CALLED,
  'answer-stream-end': HEARD,
  'point-schema': ['throws', 'throws-later'],
  'point-flags': ['throws', 'throws-later'],
  'point-answers': ['throws', 'throws-later'],
  'hook-schema': ['throws', 'throws-later'],
  'deep-result': HEARD,
  'map-member': HEARD,
  'native-subclass': HEARD,
  'callback-member': CALLED,
  'callback-of-instance': CALLED,
  'callback-to-contribution': CALLED,
  'hook-argument': CALLED,
  'tap-gives-function': CALLED,
  thenable: CALLED,
  'query-schema': ['throws', 'throws-later'],
  'body-schema': ['throws', 'throws-later'],
  'job-input': ['throws', 'throws-later'],
  'block-schema': HEARD,
  template: ['throws', 'rejects', 'never-ends', 'throws-later', 'gives-rubbish'],
  'job-watcher': HEARD,
  'job-pinned': ['throws', 'throws-later'],
  'log-subscriber': HEARD,
  'any-listener': CALLED,
  'host-signal': HEARD,
  'request-signal': HEARD,
  'stream-signal': HEARD,
  'job-signal': HEARD,
  'lent-signal': HEARD,
  'tapped-signal': HEARD,
  'section-schema': HEARD,
  'section-json': ['throws', 'rejects', 'throws-later', 'gives-rubbish'],
  'answer-schema': ['throws', 'throws-later'],
  'tap-config-check': CALLED,
  'tap-config-changed': CALLED,
  'update-member': ['throws', 'throws-later'],
  'event-member': ['throws', 'throws-later'],
  'request-body': CALLED,
  'own-listener': HEARD,
  'job-details': ['throws', 'throws-later'],
  // Statements run in a thread of their own. What they throw later is a warning of the database, which no row shows.
  statement: ['throws', 'rejects', 'never-ends', 'gives-rubbish'],
  rows: ['throws'],
  migration: ['throws', 'rejects', 'never-ends'],
  'child-listener': HEARD,
  'file-callback': HEARD,
};

export const CELLS: readonly (readonly [Kind, Fault])[] = (Object.keys(KINDS) as Kind[]).flatMap(kind =>
  (FAULTS_OF[kind] ?? (Object.keys(FAULTS) as Fault[])).map(fault => [kind, fault] as const),
);

/** Kinds whose results are ignored, so that a wrong one harms nobody. */
export const IGNORES_RUBBISH: readonly Kind[] = [
  'tap-parallel',
  'tap-series',
  'tap-veto',
  'stream-close',
  'accessor',
  'service',
  'returned',
  'timer',
  'schedule',
  'listener',
  'disposer',
];

export const cellName = (kind: Kind, fault: Fault): string => `cell-${kind}-${fault}`;

export function cellPlugin(kind: Kind, fault: Fault): string {
  return `import { EventEmitter } from 'node:events'
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs'
import { Readable } from 'node:stream'
const NAME = '${cellName(kind, fault)}'
const fault = good => { ${FAULTS[fault]} }
const once = good => {
  if (globalThis.armedCell !== NAME) return good
  globalThis.armedCell = undefined
  return fault(good)
}
void [EventEmitter, Readable, spawn, readFile]
export const statement = () => fault('fine')
export function * rows () { yield fault('fine') }
export const migrations = NAME.startsWith('cell-migration') ? [() => fault(undefined)] : []
export default { name: NAME, host: '^1', setup (host) { ${KINDS[kind]} } }
`;
}

const HOOKS: Partial<Record<Kind, string>> = {
  'tap-parallel': `'parallel'`,
  'tap-series': `'series'`,
  'tap-waterfall': `'waterfall', { schema: zod.string() }`,
  'tap-veto': `'series', { guarded: false }`,
  'tap-veto-waterfall': `'waterfall', { guarded: false, schema: zod.string() }`,
  'tap-gives-function': `'waterfall', { guarded: false }`,
  'tapped-signal': `'parallel', { guarded: false }`,
};

/** Makes the plugin that owns the points, hooks and services, and that calls what a request asks it to call. */
export function callerPlugin(cells: readonly (readonly [Kind, Fault])[]): string {
  const hooks = cells.flatMap(([kind, fault]) =>
    HOOKS[kind] === undefined
      ? []
      : [`hooks['${cellName(kind, fault)}'] = host.hook('cell.${cellName(kind, fault)}', ${HOOKS[kind]})`],
  );
  return `let zod
export default { name: 'caller', host: '^1', config: z => { zod = z; return z.object({}) }, setup (host) {
  const hooks = {}
  ${hooks.join('\n  ')}
  const list = host.point('cell.point', { schema: zod.looseObject({ call: zod.any() }), answers: { call: zod.string(), 'deep.list.call': zod.string() } })
  ${cells
    .filter(([kind]) => kind === 'hook-argument')
    .map(([kind, fault]) => `host.tap('own.${cellName(kind, fault)}', async given => { await given.call() })`)
    .join('\n  ')}
  ${cells
    .filter(([kind]) => ['point-schema', 'point-answers'].includes(kind))
    .map(([kind, fault]) => `host.contribute('owned.${cellName(kind, fault)}', 'caller', { call: () => 'fine' })`)
    .join('\n  ')}
  ${cells
    .filter(([kind]) => kind === 'hook-schema')
    .map(([kind, fault]) => `host.tap('owned.${cellName(kind, fault)}', value => value)`)
    .join('\n  ')}
  host.contribute('cell.taker', 'caller', { take: given => given.call() })
  const lent = async use => {
    const abort = new AbortController()
    await use({ signal: abort.signal })
    abort.abort()
  }
  host.provide('cell.caller', { call: fn => fn(), callMember: given => given.call(), lend: lent })
  const calls = {
    none: () => undefined,
    hook: name => hooks[name].promise('fine'),
    'hook-signal': name => lent(given => hooks[name].promise(given)),
    'hook-given': async name => (await hooks[name].promise('fine')).call(),
    'point-flags': name => host.contribute('owned.' + name, 'caller', {}),
    contribution: name => list.get(name).value.call(),
    instance: name => list.get(name).value.deep.list[0].call(),
    // A contribution that fails when it is examined is not in the list.
    accessor: name => list.get(name)?.value.value,
    service: name => host.use('cell.' + name).call(),
    'deep-result': async name => (await host.use('cell.' + name).call()).a.b.c.call(),
    'map-member': name => list.get(name).value.map.get('it')(),
    'native-subclass': name => list.get(name).value.things.call(),
    returned: async name => (await host.use('cell.' + name).call())()
  }
  host.route({ method: 'POST', path: '/call/{how}/{name}', summary: 'x', async handle ({ params }) {
    const given = await calls[params.how](params.name)
    return { given: typeof given }
  } })
  host.route({ method: 'POST', path: '/arm/{name}', summary: 'x', handle: ({ params }) => { globalThis.armedCell = params.name; return {} } })
  host.event('cell.moved', { description: 'when the table asks for it' })
  host.route({ method: 'POST', path: '/emit/{name}', summary: 'x', handle: ({ params }) => { host.emit('cell.moved', { name: params.name }); return {} } })
  host.route({ method: 'GET', path: '/description', summary: 'x', handle: () => host.openapi() })
  host.route({ method: 'GET', path: '/flags', summary: 'x', handle: () => host.capabilities() })
  host.route({ method: 'GET', path: '/neighbour', summary: 'x', handle: () => ({ fine: true }) })
} }
`;
}
