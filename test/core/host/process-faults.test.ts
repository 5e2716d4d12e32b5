// What a plugin does to the shared process is undone if possible, and reported as its fault.
import t from 'tap';
import { until } from '../../support/until.ts';
import { startWithWild } from '../../support/wild-plugin.ts';

for (const name of ['Promise', 'Date', 'JSON.stringify', 'JSON.parse', 'setTimeout', 'Map']) {
  t.test(`a plugin that replaces the global ${name} fails alone`, async t => {
    const { base, stdout } = await startWithWild(
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

for (const [name, removal] of Object.entries({
  'listeners of the process': `for (const event of ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(event)`,
  'all listeners of the process': 'process.removeAllListeners()',
})) {
  t.test(`a plugin that removes ${name} of all plugins removes only its own`, async t => {
    const { base, child, exited, stdout } = await startWithWild(
      t,
      `export default { name: 'wild', host: '^1', setup (host) {
        ${removal}
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
}

t.test('a plugin that ends the process because of the fault of another is named', async t => {
  const { base, exited, stderr } = await startWithWild(
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
  t.test(`${name} fails the plugin, not the host`, async t => {
    const service = await startWithWild(
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
  // This source starts before any plugin is loaded.
  const outside = `const timer = setInterval(() => {
    if (!globalThis.isUp) return
    clearInterval(timer)
    throw new Error('of the host')
  }, 20).unref()`;
  const service = await startWithWild(
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
    const service = await startWithWild(t, `export default { name: 'wild', host: '^1', setup () { ${setup} } }`);
    service.child.kill('SIGTERM');
    const ended = await Promise.race([service.exited, new Promise(resolve => setTimeout(resolve, 30_000).unref())]);
    if (ended === undefined) service.child.kill('SIGKILL');
    t.same(ended, { code: 0, signal: null }, service.stderr());
  });
}

t.test('a plugin that blocks the event loop is named', async t => {
  const service = await startWithWild(
    t,
    `export default { name: 'wild', host: '^1', setup (host) {
      host.route({ method: 'GET', path: '/block', summary: 'x', handle: () => { const end = Date.now() + 900; while (Date.now() < end); return {} } })
    } }`,
  );
  await fetch(`${service.base}/block`);
  await until(() => /stood still for \d+ ms; held up by wild: GET \/block/.test(service.stdout()));
});

t.test('a host goes on when the reader of its output ends', async t => {
  const service = await startWithWild(
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
