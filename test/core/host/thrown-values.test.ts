// Anything can be thrown: what has no text, is its own cause, or fails when it is looked at is a fault like any other.
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';
import { startWithWild } from '../../support/wild-plugin.ts';

t.test('what is thrown needs no text, and a Problem that cannot be sent is a fault', async t => {
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
