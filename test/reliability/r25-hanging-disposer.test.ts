// R25: a plugin whose disposer hangs does not hold the exit up beyond its deadline.
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

t.test('the stop ends, the other disposers run in reverse order, and the fault is counted', async t => {
  const order: string[] = [];
  Object.assign(globalThis, { disposalOrder: order });
  const dir = testDir(t, {
    first: {
      'index.js': `export default { name: 'first', host: '^1', setup () { return () => { globalThis.disposalOrder.push('first') } } }`,
    },
    second: {
      'index.js': `export default { name: 'second', host: '^1', after: ['first'], setup () {
        return () => { globalThis.disposalOrder.push('second'); return new Promise(() => {}) } } }`,
    },
    third: {
      'index.js': `export default { name: 'third', host: '^1', after: ['second'], setup (host) {
        host.tap('host.stopping', () => { globalThis.disposalOrder.push('stopping') })
        return () => { globalThis.disposalOrder.push('third'); throw new Error('failing disposer') } } }`,
    },
  });
  const app = await startHost({
    pluginDirs: [dir],
    deadlines: { importMs: 60_000, setupMs: 60_000, disposeMs: 2_000 },
  });
  await app.stop();
  t.same(order, ['stopping', 'third', 'second', 'first']);
  t.match(app.host.plugins().find(plugin => plugin.name === 'second')?.errors, { dispose: 1 });
  t.equal(await app.host.stopped, 0);
});
