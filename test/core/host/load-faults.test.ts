// Faults of a plugin up to and including its set-up affect only that plugin.
import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';

/** A healthy plugin that no fault may affect. */
const neighbour = `export default { name: 'neighbour', host: '^1', setup (host) {
  host.route({ method: 'GET', path: '/neighbour', summary: 'x', handle: () => ({ fine: true }) })
  host.capability('neighbour', () => true)
} }`;

const ghost = (body: string) => `export default { name: 'broken', host: '^1', setup (host) {
  host.route({ method: 'GET', path: '/ghost', summary: 'x', capability: 'ghost_route', handle: () => ({}) })
  host.stream({ path: '/ws/ghost', summary: 'x', open () {} })
  host.capability('ghost', () => true)
  host.provide('ghost', {})
  host.contribute('ghost.point', 'a', {})
  ${body}
} }`;

/** The source of a function that makes an error with a member that throws when it is read a second time. */
const atSecondLook = `function atSecondLook (member, value) {
  let looks = 0
  const get = () => { if (looks++ === 0) return value; throw new Error('once too often') }
  return Object.defineProperty(new Error('of no text'), member, { get, configurable: true })
}`;

const cases: Record<string, { source: string; reason: RegExp }> = {
  'throws at import': { source: `throw new Error('no luck')`, reason: /no luck \(index\.js:1\)/ },
  'syntax error': { source: `export default {\n  name: ;\n}`, reason: /^Unexpected token ';' \(index\.js:2\)$/ },
  'no default export': { source: `export const name = 'broken'`, reason: /no default export/ },
  'an export that is no object': { source: `export default 7`, reason: /no default export/ },
  'an empty file': {
    source: '',
    reason: /^the index file has no default export with a name; write export default \{ name: 'broken', /,
  },
  'an import that only the product has': {
    source: `import { Problem } from '#core'\n${ghost('throw new Problem(400)')}`,
    reason: /^it imports '#core', as only .*; take types from 'stackwarden\/plugin', and host\.Problem and host\.z/,
  },
  'an import of the kit': {
    source: `import { slug } from '#kit/slug'\n${ghost('slug()')}`,
    reason: /^it imports '#kit\/slug', as only .*; write what it needs of it into its own folder$/,
  },
  'a configuration without a schema': {
    source: `export default { name: 'broken', host: '^1', config: () => ({ a: 1 }), setup () {} }`,
    reason: /^its 'config' returns no schema of the zod that it is given; return z\.object/,
  },
  'wrong name': { source: `export default { name: 'other', host: '^1', setup () {} }`, reason: /'other'.*'broken'/ },
  'a misspelt member': {
    source: `export default { name: 'broken', host: '^1', need: ['missing'], setup () {} }`,
    reason: /^it has no 'needs' but 'need'; write 'needs'$/,
  },
  'a misspelt set-up': {
    source: `export default { name: 'broken', host: '^1', setUp () {} }`,
    reason: /^it has no 'setup' but 'setUp'; write 'setup'$/,
  },
  'no set-up': { source: `export default { name: 'broken', host: '^1' }`, reason: /no setup/ },
  'wrong range': { source: `export default { name: 'broken', host: '^9', setup () {} }`, reason: /needs host \^9/ },
  'range that is none': {
    source: `export default { name: 'broken', host: 'soon', setup () {} }`,
    reason: /version range/,
  },
  'needs that is no list': {
    source: `export default { name: 'broken', host: '^1', needs: 'x', setup () {} }`,
    reason: /'needs'/,
  },
  'throws in set-up': { source: ghost(`throw new Error('half way')`), reason: /half way \(index\.js:7\)/ },
  'rejects in set-up': { source: ghost(`return Promise.reject(new Error('later'))`), reason: /later \(index\.js:7\)/ },
  'hangs in set-up': {
    source: ghost(`return new Promise(() => {})`),
    reason: /the setup of broken takes longer than 200 ms and is left behind/,
  },
  'throws what cannot be looked at': {
    source: ghost(`const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy`),
    reason: /^an error without a text$/,
  },
  'throws what has no cause to look at, at import': {
    source: `throw Object.defineProperty(new Error('no luck'), 'cause', { get () { throw new Error('a trap') } })`,
    reason: /^no luck$/,
  },
  'throws an error that can be looked at once': {
    source: `${ghost(`throw atSecondLook('message', 'half way')`)}\n${atSecondLook}`,
    reason: /^half way \(index\.js:12\)$/,
  },
  'throws an error whose cause can be looked at once': {
    source: `${ghost(`throw atSecondLook('cause', new Error('the cause'))`)}\n${atSecondLook}`,
    reason: /^of no text \(index\.js:7\)$/,
  },
  'a route that is taken': {
    source: `export default { name: 'broken', host: '^1', after: ['neighbour'], setup (host) {
      host.route({ method: 'GET', path: '/neighbour', summary: 'x', handle: () => ({ fine: false }) }) } }`,
    reason: /neighbour/,
  },
};

for (const [name, { source, reason }] of Object.entries(cases)) {
  t.test(name, async t => {
    // Without a package.json here, that of the project applied, below which this directory lies. Node takes an empty
    // file for CommonJS unless a package.json says otherwise.
    const packageText = JSON.stringify(source === '' ? {} : { type: 'module' });
    const broken = { 'index.js': source, 'package.json': packageText };
    const dir = testDir(t, { broken, neighbour: { 'index.js': neighbour } });
    const setupMs = name.startsWith('hangs') ? 200 : 60_000;
    const app = await startHost({ pluginDirs: [dir], deadlines: { importMs: 60_000, setupMs } });
    t.teardown(() => app.stop());
    const report = app.host.plugins().find(plugin => plugin.name === 'broken');
    t.equal(report?.state, 'failed');
    t.match(report?.reason, reason);
    t.same(
      [...(report?.routes ?? []), ...(report?.capabilities ?? []), ...(report?.services ?? [])],
      [],
      'nothing is left',
    );
    t.same((await app.get('/neighbour')).body, { fine: true }, 'the neighbour answers');
    t.equal((await app.get('/ghost')).status, 404, 'no ghost route');
  });
}

t.test('a module that a package.json makes CommonJS is told to be called .mjs', async t => {
  const index = `export default { name: 'broken', host: '^1', setup () {} }`;
  const dir = testDir(t, {
    'package.json': '{"type":"commonjs"}',
    broken: { 'index.js': index },
    importing: { 'index.js': `import './other.js'\n${index}` },
    fine: { 'index.mjs': index.replace('broken', 'fine') },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const reason = /, because a package.json .* CommonJS; let the name of the file end in \.mjs \(index\.js:1\)$/;
  t.match(app.host.plugins(), [
    { name: 'broken', reason },
    { name: 'fine', reason: null },
    { name: 'importing', reason },
  ]);
});

t.test('the log tells the place of a failed set-up, and of a disposer that is none', async t => {
  const plugin = (name: string, body: string) => ({
    'index.mjs': `export default { name: '${name}', host: '^1', setup () {\n${body} } }`,
  });
  const dir = testDir(t, {
    broken: plugin('broken', `throw new Error('half way')`),
    disposed: plugin('disposed', 'return { dispose () {} }'),
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const log = (await ownLog(app)).join('\n');
  t.match(log, /plugin broken failed \(index\.mjs:2\): half way/);
  t.match(log, /what the setup of disposed returns is ignored, because it is no function/);
});

t.test('a syntax error in any file of the plugin is reported with its place', async t => {
  const dir = testDir(t, {
    broken: {
      'index.js': `import { greet } from './lib/greet.js'\nexport default { name: 'broken', host: '^1', setup () { greet() } }`,
      'other.js': 'export const fine = 1',
      lib: { 'greet.js': `// Says hello.\n\nexport const greet = () => {\n  return 'hello\n}` },
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  t.match(app.host.plugins(), [{ state: 'failed', reason: /^Invalid or unexpected token \(lib\/greet\.js:4\)$/ }]);
});

t.test('hanging set-ups are waited for at once, and only by plugins that come after them', async t => {
  const begun: { name: string; afterFault: boolean }[] = [];
  Object.assign(globalThis, { setUpsBegun: begun });
  const plugin = (name: string, body = '', extra = '') => ({
    'index.js': `export default { name: '${name}', host: '^1', ${extra} setup (host) {
      globalThis.setUpsBegun.push({ name: '${name}', afterFault: host.plugins().some(({ state }) => state === 'failed') })
      ${body} } }`,
  });
  const hang = 'return new Promise(() => {})';
  const dir = testDir(t, {
    a: plugin('a', '', `after: ['hanging-1'],`),
    b: plugin('b', '', `after: ['a'],`),
    c: plugin('c', '', `needs: ['hanging-2'],`),
    'hanging-1': plugin('hanging-1', hang),
    'hanging-2': plugin('hanging-2', hang),
    'hanging-3': plugin('hanging-3', hang),
    'slow-1': plugin('slow-1', 'return new Promise(resolve => setTimeout(resolve, 50))'),
    'slow-2': plugin('slow-2'),
  });
  const app = await startHost({ pluginDirs: [dir], deadlines: { importMs: 60_000, setupMs: 2_000 } });
  t.teardown(() => app.stop());
  t.same(begun, [
    { name: 'hanging-1', afterFault: false },
    { name: 'hanging-2', afterFault: false },
    { name: 'hanging-3', afterFault: false },
    { name: 'slow-1', afterFault: false },
    { name: 'slow-2', afterFault: false },
    { name: 'a', afterFault: true },
    { name: 'b', afterFault: true },
  ]);
  const states = Object.fromEntries(app.host.plugins().map(({ name, state }) => [name, state]));
  t.same(states, {
    a: 'ready',
    b: 'ready',
    c: 'skipped',
    'hanging-1': 'failed',
    'hanging-2': 'failed',
    'hanging-3': 'failed',
    'slow-1': 'ready',
    'slow-2': 'ready',
  });
});

t.test('an import that hangs fails its plugin alone', async t => {
  const dir = testDir(t, {
    broken: { 'index.js': `await new Promise(resolve => setTimeout(resolve, 600_000).unref())` },
    neighbour: { 'index.js': neighbour },
  });
  const app = await startHost({ pluginDirs: [dir], deadlines: { importMs: 300 } });
  t.teardown(() => app.stop());
  t.match(
    app.host.plugins().find(plugin => plugin.name === 'broken'),
    { state: 'failed', reason: /the import of broken takes longer than 300 ms/ },
  );
});

t.test('an invalid section is reported without its value, and can be corrected at run time', async t => {
  const dir = testDir(t, {
    broken: {
      'index.js': `export default { name: 'broken', host: '^1', config: z => z.object({ url: z.url() }), setup (host, config) {
        host.route({ method: 'GET', path: '/url', summary: 'x', handle: () => ({ url: config.url }) }) } }`,
    },
    neighbour: { 'index.js': neighbour },
  });
  const app = await startHost({ pluginDirs: [dir], config: { dumb: { broken: { url: 'hunter2' } } } });
  t.teardown(() => app.stop());
  const report = () => app.host.plugins().find(plugin => plugin.name === 'broken');
  t.match(report(), { state: 'failed', reason: /dumb\.broken\.url/ });
  t.notMatch(report()?.reason, /hunter2/);
});

t.test('plugins are set up in order, and fail with what they need', async t => {
  const order: string[] = [];
  Object.assign(globalThis, { loadOrder: order });
  const plugin = (name: string, extra: string, body = '') =>
    `export default { name: '${name}', host: '^1', ${extra} setup (host) { globalThis.loadOrder.push('${name}'); ${body} } }`;
  const dir = testDir(t, {
    a: { 'index.js': plugin('a', `after: ['z'],`) },
    z: { 'index.js': plugin('z', '') },
    m: { 'index.js': plugin('m', `needs: ['a'],`) },
    bad: { 'index.js': plugin('bad', '', `throw new Error('bad')`) },
    dependent: { 'index.js': plugin('dependent', `needs: ['bad'],`) },
    second: { 'index.js': plugin('second', `needs: ['dependent'],`) },
    absent: { 'index.js': plugin('absent', `needs: ['nowhere'],`) },
    'loop-a': { 'index.js': plugin('loop-a', `needs: ['loop-b'],`) },
    'loop-b': { 'index.js': plugin('loop-b', `needs: ['loop-a'],`) },
    'not-chosen': { 'index.js': `globalThis.loadOrder.push('imported'); export default {}` },
  });
  const app = await startHost({ pluginDirs: [dir], config: { dumb: { plugins: { disabled: ['not-chosen'] } } } });
  t.teardown(() => app.stop());
  t.same(order, ['z', 'a', 'bad', 'm']);
  const states = Object.fromEntries(app.host.plugins().map(({ name, state, reason }) => [name, [state, reason]]));
  t.match(states, {
    dependent: ['skipped', 'needs bad'],
    second: ['skipped', 'needs dependent'],
    absent: ['skipped', 'needs nowhere'],
    'loop-a': ['failed', /loop-a -> loop-b -> loop-a/],
    'loop-b': ['failed', /loop-a -> loop-b -> loop-a/],
    'not-chosen': ['disabled', /dumb\.plugins/],
  });
});

t.test('a folder in which everybody may write is refused', async t => {
  const dir = testDir(t, { broken: { 'index.js': neighbour.replaceAll('neighbour', 'broken') } });
  await chmod(path.join(dir, 'broken'), 0o777);
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  t.match(app.host.plugins()[0], { state: 'failed', reason: /may be written by others/ });
});

t.test('a FIFO where an import would read a file is refused, and holds nothing up', async t => {
  const named = (name: string) => ({ 'index.js': `export default { name: '${name}', host: '^1', setup () {} }` });
  const dir = testDir(t, {
    fifo: {},
    device: {},
    'with-package': named('with-package'),
    'with-pipe': named('with-pipe'),
  });
  execFileSync('mkfifo', ['fifo/index.js', 'with-package/package.json', 'with-pipe/pipe'], { cwd: dir });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const states = new Map(app.host.plugins().map(({ name, state, reason }) => [name, { state, reason }]));
  for (const [name, file] of Object.entries({ fifo: 'index.js', 'with-package': 'package.json' }))
    t.match(states.get(name), { state: 'failed', reason: new RegExp(`${file} is no regular file, .*; remove it or`) });
  t.match(states.get('with-pipe'), { state: 'ready' }, 'what a plugin keeps beside its code is its own');
});

t.test('a name that is taken is refused, unless it is named as an override', async t => {
  const route = (text: string) => `export default { name: 'twin', host: '^1', setup (host) {
    host.route({ method: 'GET', path: '/twin', summary: 'x', handle: () => ({ from: '${text}' }) }) } }`;
  const dir = testDir(t, { one: { twin: { 'index.js': route('one') } }, two: { twin: { 'index.js': route('two') } } });
  const pluginDirs = [path.join(dir, 'one'), path.join(dir, 'two')];
  const app = await startHost({ pluginDirs });
  t.same((await app.get('/twin')).body, { from: 'one' });
  t.match(app.host.plugins()[1], { state: 'failed', reason: /dumb\.plugins\.override/ });
  await app.stop();
  const other = await startHost({ pluginDirs, config: { dumb: { plugins: { override: ['twin'] } } } });
  t.teardown(() => other.stop());
  t.same((await other.get('/twin')).body, { from: 'two' });
});

t.test('a required plugin that fails stops the start, with every cause in one error', async t => {
  const dir = testDir(t, {
    config: { 'index.js': `throw new Error('first cause')` },
    process: {
      'index.js': `export default { name: 'process', host: '^1', setup () { throw new Error('second cause') } }`,
    },
  });
  await t.rejects(startHost({ pluginDirs: [dir] }), {
    message: /config: first cause \(index\.js:1\); process: second cause \(index\.js:1\)/,
  });
  await t.rejects(startHost({ pluginDirs: [], config: { dumb: { plugins: { required: ['mine'] } } } }), {
    message: /mine: its folder is missing/,
  });
});
