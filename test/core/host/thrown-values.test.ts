// Anything can be thrown: a value without text, an error that is its own cause, or one that throws when read is a fault
// too.
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';
import { startWithWild } from '../../support/wild-plugin.ts';

t.test('a thrown value needs no text, and a Problem that cannot be sent is a fault', async t => {
  const service = await startWithWild(
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

t.test('an error that is its own cause, or throws when it is read, is a fault', async t => {
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

const THROWN = {
  text: `'a text'`,
  nothing: 'undefined',
  symbol: `Symbol('x')`,
  frozen: `Object.freeze(new Error('frozen'))`,
  sealed: `Object.freeze(Object.defineProperty(new Error('x'), 'stack', { get: trap }))`,
  proxy: 'new Proxy({}, { get: trap, getPrototypeOf: trap })',
  accessors: '({ get message () { trap() }, get stack () { trap() }, get cause () { trap() } })',
  thenable: '({ then: trap })',
};

t.test('a thrown value counts against the plugin that threw it', async t => {
  const app = await startWithPlugins(t, {
    caller: `const list = host.point('fixture.point', { schema: host.z.any() })
      const hook = host.hook('fixture.hook', 'series')
      host.event('fixture.event', { description: 'x' })
      host.provide('fixture.caller', { call: fn => fn() })
      const ways = {
        contribution: () => list.get('it').value.deep.list[0].call(),
        accessor: () => list.get('it').value.value,
        service: () => host.use('fixture.service').call(),
        result: () => host.use('fixture.service').give()(),
        steps: async () => { for await (const step of host.use('fixture.service').steps()) void step },
        tap: () => hook.promise(),
        event: () => { host.emit('fixture.event', {}) },
      }
      host.route({ method: 'POST', path: '/call/{way}', summary: 'x', handle: async ({ params }) => ({ got: typeof await ways[params.way]() }) })
      host.route({ method: 'GET', path: '/ways', summary: 'x', handle: () => Object.keys(ways) })`,
    giver: {
      more: `after: ['caller'],`,
      setup: `let fault
      const fn = () => fault()
      const trap = () => { throw new Error('a trap') }
      const thrown = { ${Object.entries(THROWN)
        .map(([name, value]) => `${name}: () => ${value}`)
        .join(',')} }
      host.contribute('fixture.point', 'it', { deep: { list: [{ call: fn }] }, get value () { return fn() } })
      host.provide('fixture.service', { call: fn, give: () => fn, steps: async function * () { yield await fn() } })
      host.tap('fixture.hook', fn)
      host.on('fixture.event', fn)
      host.route({ method: 'POST', path: '/fault/{name}/{how}', summary: 'x', handle ({ params: { name, how } }) {
        const make = thrown[name]
        fault = how === 'throws' ? () => { throw make() } : () => Promise.reject(make())
      } })
      host.route({ method: 'POST', path: '/callback', summary: 'x', async handle () { await host.use('fixture.caller').call(fn).catch(() => undefined) } })`,
    },
  });
  const errors = () => Object.fromEntries(app.host.plugins().map(plugin => [plugin.name, plugin.errors]));
  const count = () => Object.values(errors().giver ?? {}).reduce((sum, number) => sum + number, 0);
  const ways = ['/callback', ...(await app.get('/ways')).body.map((way: string) => `/call/${way}`)];
  for (const name of Object.keys(THROWN))
    for (const how of ['throws', 'rejects'])
      for (const way of ways) {
        await app.post(`/fault/${name}/${how}`);
        const before = count();
        await app.post(way);
        await until(() => count() === before + 1, { what: `${way} of what ${how} ${name} to be counted once` });
      }
  t.equal(count(), Object.keys(THROWN).length * 2 * ways.length);
  t.same(errors(), { ...errors(), caller: {}, config: {} }, 'nobody else is blamed');
});
