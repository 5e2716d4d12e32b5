// Changes of the configuration are announced one after the other, outside the queue of updates, so that a plugin that
// hears of a change may make another.
import { existsSync } from 'node:fs';
import t from 'tap';
import type { TestHost } from '../../support/host.ts';
import { kid, start, stop } from '../../support/kids.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const skip = ['config', 'process'].some(
  name => !existsSync(new URL(`../../../plugins/${name}/index.ts`, import.meta.url)),
);
const set = (app: TestHost, updates: object) => app.post('/config', { updates });
const dumb = async (app: TestHost) => (await app.get('/config')).body.dumb;
const errorsOf = (app: TestHost, name: string) => app.host.plugins().find(row => row.name === name)?.errors;

t.test('a tap that waits for an update of its own stops neither saves nor starts', { skip }, async t => {
  const app = await startWithPlugins(
    t,
    {
      answerer: `host.tap('config.changed', async ({ paths }) => {
        if (!paths.includes('tz')) return
        const updates = { dumb: { answered: paths.length } }
        await host.use('config.store').update({ updates, persist: true, actor: 'answerer' })
      })`,
    },
    { shipped: ['config', 'process'], config: { kid: kid('Kid', ['calm']) } },
  );
  t.equal((await set(app, { tz: 'UTC' })).status, 200);
  await until(async () => (await dumb(app)).answered === 1, { what: 'the answer of the tap' });
  t.equal((await set(app, { tz: 'Asia/Tokyo' })).status, 200, 'the next save is made');
  t.equal((await start(app, 'Kid')).status, 200, 'and the next start');
  t.equal((await stop(app, 'Kid')).status, 200);
  t.same(errorsOf(app, 'answerer'), {});
});

t.test('an update resolves once each tap has been told, and changes are told in order', { skip }, async t => {
  const app = await startWithPlugins(t, {
    slow: `const told = []
      host.tap('config.changed', async ({ paths }) => {
        const value = host.use('config.store').get('dumb.value')
        await new Promise(resolve => setTimeout(resolve, 50))
        told.push(paths.join() + ' ' + value)
      })
      host.route({ method: 'GET', path: '/told', summary: 'x', handle: () => told })
      host.route({ method: 'POST', path: '/two', summary: 'x', async handle () {
        const update = value => host.use('config.store').update({ updates: { dumb: { value } }, persist: false, actor: 'slow' })
        const first = update('one').then(() => told.length)
        const second = update('two').then(() => told.length)
        return [await first, await second]
      } })`,
  });
  t.same((await app.post('/two')).body, [1, 2], 'callers find what the taps did');
  const { body: told } = await app.get('/told');
  t.equal(told.length, 2);
  t.match(told[0], /^dumb\.value /);
  t.equal(told[1], 'dumb.value two');
});

t.test('a tap that saves in a second host of the process waits for the taps of that host', { skip }, async t => {
  t.teardown(() => Reflect.deleteProperty(globalThis, 'saveInSecond'));
  await startWithPlugins(t, {
    second: `let isTold = false
      host.tap('config.changed', async () => {
        await new Promise(resolve => setTimeout(resolve, 50))
        isTold = true
      })
      globalThis.saveInSecond = async () => {
        await host.use('config.store').update({ updates: { dumb: { value: 'one' } }, persist: false, actor: 'second' })
        return isTold
      }`,
  });
  // The plugins of the second host lie in a directory of their own.
  await t.test('a save in the second host works while the first announces', async t => {
    const first = await startWithPlugins(t, {
      first: `let found
        host.tap('config.changed', async ({ paths }) => {
          if (paths.includes('tz')) found = { isTold: await globalThis.saveInSecond() }
        })
        host.route({ method: 'GET', path: '/found', summary: 'x', handle: () => found })`,
    });
    t.equal((await set(first, { tz: 'UTC' })).status, 200);
    t.same((await first.get('/found')).body, { isTold: true });
  });
});

const counter = (own: string, other: string, call: string) =>
  `host.tap('config.changed', async ({ paths }) => {
    if (!paths.includes('dumb.${other}')) return
    const store = host.use('config.store')
    const updates = { dumb: { ${own}: store.get('dumb.${other}') + 1 } }
    ${call} store.update({ updates, persist: false, actor: host.name })${call === 'void' ? '.catch(() => undefined)' : ''}
  })`;

for (const [how, call] of [
  ['and wait for it', 'await'],
  ['and do not wait', 'void'],
] as const) {
  t.test(`two plugins that answer each other's changes ${how} are stopped and named`, { skip }, async t => {
    const app = await startWithPlugins(t, { ping: counter('ping', 'pong', call), pong: counter('pong', 'ping', call) });
    t.equal((await set(app, { dumb: { ping: 1 } })).status, 200);
    const line = /ping, pong answer each other's changes of the configuration without end \(.*dumb\.pong/;
    await until(async () => line.test(await ownLog(app)), { what: 'the line about the loop' });
    const { ping, pong } = await dumb(app);
    t.equal((await set(app, { tz: 'UTC' })).status, 200, 'others go on');
    t.match(await dumb(app), { ping, pong }, 'and the loop does not');
  });
}

t.test('an update inside the check of an update is refused instead of waited for', { skip }, async t => {
  const app = await startWithPlugins(t, {
    checker: `host.tap('config.check', ({ after }) => after.tz === 'bad'
      ? host.use('config.store').update({ updates: { tz: 'other' }, persist: false, actor: 'checker' })
      : undefined)`,
  });
  t.equal((await set(app, { tz: 'bad' })).status, 500);
  const line = /a tap of config\.check tried to update/;
  await until(async () => line.test(await ownLog(app)), { what: 'the line about the tap' });
  t.equal((await set(app, { tz: 'good' })).status, 200);
});

t.test('a change in the file is announced before the update that discovers it', { skip }, async t => {
  const app = await startWithPlugins(
    t,
    {
      listener: `const told = []
      host.tap('config.changed', ({ paths, actor }) => { told.push(actor + ' ' + paths.join()) })
      host.route({ method: 'GET', path: '/told', summary: 'x', handle: () => told })
      host.route({ method: 'POST', path: '/edit', summary: 'x', async handle () {
        const store = host.use('config.store')
        const fs = await import('node:fs')
        const text = fs.readFileSync(store.file, 'utf8')
        fs.writeFileSync(store.file, text.replace('"before"', '"after"'))
        await store.update({ updates: { tz: 'UTC' }, persist: true, actor: 'listener' })
        return {}
      } })`,
    },
    { config: { data_root: 'before' } },
  );
  t.equal((await app.post('/edit')).status, 200);
  t.same((await app.get('/told')).body, ['file data_root', 'listener tz']);
});
