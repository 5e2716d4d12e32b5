// Faults in code that plugins give to the configuration, in schemas, defaults and templates: the plugin is named, and
// the configuration is loaded without that code.
import { existsSync } from 'node:fs';
import t, { type Test } from 'tap';
import { kid, start, status } from '../../support/kids.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';

const skip = ['config', 'process', 'host-plugins'].some(
  name => !existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);

async function startCulprit(t: Test, setup: string, { block = {}, section = {} } = {}) {
  const app = await startWithPlugins(
    t,
    { culprit: { setup: `const { z } = host; ${setup}` } },
    {
      shipped: ['config', 'process', 'host-plugins'],
      config: { kid: kid('Kid', ['calm'], block), dumb: { guess: section } },
    },
  );
  const row = (name: string) => app.host.plugins().find(plugin => plugin.name === name);
  return { app, row };
}

const keys = (schema: string, more = '') => `host.contribute('config.block', 'x', { schema: ${schema}, ${more} })`;
const section = (schema: string, more = '') =>
  `host.contribute('config.schema', 'x', { path: ['dumb', 'guess'], schema: ${schema}, ${more} })`;
const template = (block: string) =>
  `host.contribute('config.template', 'x', { path: ['doze'], block: () => { ${block} } })`;
const any = 'z.looseObject({})';

/** Code that fails each time it is called, and the line of the log about it. */
const FAULTS: Readonly<Record<string, readonly [string, RegExp]>> = {
  'a schema of a section that throws': [
    section(`z.looseObject({ pattern: z.string().default('a').refine(v => new RegExp(v)) })`),
    /its schema of dumb\.guess: Invalid regular expression/,
  ],
  'a schema of keys that throws': [
    keys('z.looseObject({ pattern: z.string().optional().refine(v => v === undefined || new RegExp(v)) })'),
    /its schema of kid: Invalid regular expression/,
  ],
  'a schema that asks somebody': [
    keys('z.looseObject({ pattern: z.string().refine(async () => true).optional() })'),
    /its schema of kid: /,
  ],
  'a schema that has no JSON Schema': [
    keys(`z.looseObject({
      odd: z.string().optional().meta({ id: 'twice' }), even: z.number().optional().meta({ id: 'twice' })
    })`),
    /Duplicate schema id "twice"/,
  ],
  'defaults that throw': [keys(any, `defaults: () => { throw new Error('no defaults') }`), /no defaults/],
  'defaults that are promised': [keys(any, 'defaults: async () => []'), /it gives a promise/],
  'defaults that are no list': [keys(any, 'defaults: () => 10n'), /it must be a list/],
  'defaults that are no data': [keys(any, 'defaults: blocks => blocks.map(() => ({ size: 10n }))'), /what JSON can/],
  'defaults that ask for the configuration': [
    keys(any, `defaults: () => { host.use('config.store').blocks(); return [] }`),
    /cannot ask for the configuration/,
  ],
  'a template that throws': [template(`throw new Error('no template')`), /no template/],
  'a template that is promised': [template('return Promise.resolve({})'), /it gives a promise/],
  'a template that is no object': [template('return 10n'), /it must be an object/],
  'a template that is no data': [template('return { command: [new Map()] }'), /what JSON can/],
  'a JSON Schema that throws': [section(any, `jsonSchema: () => { throw new Error('no listing') }`), /no listing/],
  'a JSON Schema that is no object': [section(any, 'jsonSchema: () => 10n'), /it must be an object/],
};

for (const [name, [setup, told]] of Object.entries(FAULTS)) {
  t.test(name, { skip }, async t => {
    const wrong = { pattern: '(' };
    const { app, row } = await startCulprit(t, setup, { block: wrong, section: wrong });
    for (const route of ['/config', '/config?process_name=Kid', '/config/schema', '/process/processes'])
      t.equal((await app.get(route)).status, 200, route);
    t.equal((await app.post('/config/process-config/schema', { process_name: 'Kid' })).status, 200);
    t.equal((await app.post('/config', { process_name: 'Kid', updates: { stop_grace_seconds: 3 } })).status, 200);
    t.equal((await start(app, 'Kid')).status, 200);
    t.equal((await status(app, 'Kid')).status, 'running');
    t.match(row('culprit'), { state: 'ready', errors: { contribution: Number } });
    for (const other of ['config', 'process', 'host-plugins']) t.match(row(other), { state: 'ready', errors: {} });
    t.match(await ownLog(app), told);
  });
}

t.test('a value on which a schema throws is refused', { skip }, async t => {
  const { app, row } = await startCulprit(
    t,
    `const schema = z.looseObject({ pattern: z.string().default('a').refine(v => new RegExp(v)) })
    ${section('schema')}
    ${keys('schema')}`,
  );
  const detail = (place: string) => `${place}: the plugin culprit cannot check it, because its schema fails`;
  t.match(await app.post('/config', { updates: { dumb: { guess: { pattern: '(' } } } }), {
    status: 400,
    body: { detail: detail('dumb.guess') },
  });
  t.match(await app.post('/config', { process_name: 'Kid', updates: { pattern: '(' } }), {
    status: 400,
    body: { detail: detail('kid') },
  });
  t.match(row('culprit'), { state: 'ready', errors: { contribution: 2 } });
  t.match(row('config'), { errors: {} }, 'who saves is not blamed');
});

for (const [name, setup, reason] of [
  ['blocks that are no list', keys(any, `appliesTo: 'kid'`), /appliesTo: it must be a list/],
  ['a schema whose member throws', keys(`z.looseObject({ get odd() { throw new Error('no member') } })`), /^no member/],
  [
    'a former path that is no list',
    `host.contribute('config.template', 'x', { path: ['doze'], block: () => ({}), formerPath: 7 })`,
    /formerPath: it must be a list/,
  ],
] as const) {
  t.test(`a plugin is refused with ${name}`, { skip }, async t => {
    const { row } = await startCulprit(t, setup);
    t.match(row('culprit'), { state: 'failed', reason });
  });
}
