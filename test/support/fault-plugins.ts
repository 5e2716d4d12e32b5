// Plugins that each hand over one kind of thing with one kind of fault in it, and the plugin that calls what they hand over.

/** What goes wrong inside a function; `good` is what it should give. */
export const FAULTS = {
  throws: `throw new Error('fault of ' + NAME)`,
  rejects: `return Promise.reject(new Error('fault of ' + NAME))`,
  'never-ends': `return new Promise(() => {})`,
  'throws-later': `setTimeout(() => { throw new Error('fault of ' + NAME) }, 5); return good`,
  'emits-error': `const emitter = new EventEmitter()
    setTimeout(() => emitter.emit('error', new Error('fault of ' + NAME)), 5); return good`,
  blocks: `const end = performance.now() + (NAME.includes('route') ? 3_000 : 900); while (performance.now() < end); return good`,
  'gives-rubbish': `return 10n`,
} as const;

export type Fault = keyof typeof FAULTS;

/** How each kind of thing is handed over; `fault(good)` runs the fault, `once(good)` only when the cell is armed. */
export const KINDS = {
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
  callback: `host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
    handle: async () => ({ answer: await host.use('cell.caller').call(() => fault('fine')) }) })`,
  timer: `host.every(20, () => once(undefined))`,
  schedule: `host.cron('* * * * * *', () => once(undefined))`,
  job: `const jobs = host.jobs('cell', { run: () => fault('fine'), deadlineMs: 300 })
    host.route({ method: 'POST', path: '/cell/' + NAME, summary: 'x',
      handle: async () => ({ answer: await (await jobs).run('the-key') }) })`,
  listener: `host.on('cell.moved', ({ data }) => data.name === NAME ? fault(undefined) : undefined)`,
  disposer: `return () => fault(undefined)`,
} as const;

export type Kind = keyof typeof KINDS;

/** What a kind has no use for harms nobody. */
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
const NAME = '${cellName(kind, fault)}'
const fault = good => { ${FAULTS[fault]} }
const once = good => {
  if (globalThis.armedCell !== NAME) return good
  globalThis.armedCell = undefined
  return fault(good)
}
void EventEmitter
export default { name: NAME, host: '^1', setup (host) { ${KINDS[kind]} } }
`;
}

const HOOKS: Partial<Record<Kind, string>> = {
  'tap-parallel': `'parallel'`,
  'tap-series': `'series'`,
  'tap-waterfall': `'waterfall', { schema: zod.string() }`,
  'tap-veto': `'series', { guarded: false }`,
  'tap-veto-waterfall': `'waterfall', { guarded: false, schema: zod.string() }`,
};

/** Owns the points, hooks and the one service, and calls what it is asked to call. */
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
  host.provide('cell.caller', { call: fn => fn() })
  const calls = {
    hook: name => hooks[name].promise('fine'),
    contribution: name => list.get(name).value.call(),
    instance: name => list.get(name).value.deep.list[0].call(),
    accessor: name => list.get(name).value.value,
    service: name => host.use('cell.' + name).call(),
    returned: async name => (await host.use('cell.' + name).call())()
  }
  host.route({ method: 'POST', path: '/call/{how}/{name}', summary: 'x', async handle ({ params }) {
    const given = await calls[params.how](params.name)
    return { given: typeof given }
  } })
  host.route({ method: 'POST', path: '/arm/{name}', summary: 'x', handle: ({ params }) => { globalThis.armedCell = params.name; return {} } })
  host.event('cell.moved', { description: 'when the table asks for it' })
  host.route({ method: 'POST', path: '/emit/{name}', summary: 'x', handle: ({ params }) => { host.emit('cell.moved', { name: params.name }); return {} } })
  host.route({ method: 'GET', path: '/flags', summary: 'x', handle: () => host.capabilities() })
  host.route({ method: 'GET', path: '/neighbour', summary: 'x', handle: () => ({ fine: true }) })
} }
`;
}
