// Events between plugins: who may emit which, who gets them, and that listeners cannot affect the emitter.
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const plugin = (name: string, body: string) => ({
  'index.js': `let zod
    export default { name: '${name}', host: '^1', config: z => (zod = z).object({}), setup (host) { ${body} } }`,
});

/** Starts a host whose emitter emits on request. `heard` collects what each listener passes to `hear`, by listener. */
async function startWith(t: Test, listeners: Record<string, string>) {
  const heard: Record<string, unknown[]> = {};
  const place = `stackwardenHeard${t.name}`;
  Object.assign(globalThis, { [place]: heard });
  t.teardown(() => Reflect.deleteProperty(globalThis, place));
  const hear = `const hear = value => (globalThis[${JSON.stringify(place)}][host.name] ??= []).push(value);`;
  const emitter = plugin(
    'emitter',
    `host.event('fixture.done', { description: 'Something is done' })
     host.route({ method: 'POST', path: '/emit', summary: 'x', body: zod.any(), handle ({ body }) {
       host.emit('fixture.done', body)
       return { emitted: true }
     } })
     host.route({ method: 'POST', path: '/emit-undeclared', summary: 'x', handle () { host.emit('fixture.undone', {}) } })
     host.route({ method: 'GET', path: '/events', summary: 'x', handle: () => host.events() })`,
  );
  const plugins = Object.fromEntries(
    Object.entries(listeners).map(([name, body]) => [name, plugin(name, hear + body)]),
  );
  const configDir = testDir(t, { plugins: { emitter, ...plugins } });
  const app = await startHost({
    configDir,
    config: {},
    plugins: ['emitter', ...Object.keys(listeners)],
    deadlines: { importMs: 60_000, setupMs: 60_000, callMs: { event: 200 } },
  });
  t.teardown(() => app.stop());
  const report = (name: string) => app.host.plugins().find(row => row.name === name);
  return {
    app,
    heard,
    report,
    remove: (name: string) => rm(path.join(configDir, 'plugins', name), { recursive: true }),
    replace: (name: string, body: string) =>
      writeFile(path.join(configDir, 'plugins', name, 'index.js'), plugin(name, hear + body)['index.js']),
  };
}

t.test('an event reaches all listeners, with its emitter and time', async t => {
  const { app, heard } = await startWith(t, {
    one: `host.on('fixture.done', event => hear(event))`,
    all: `host.on('*', event => hear(event))`,
    other: `host.on('fixture.other', event => hear(event))`,
    meddler: `host.on('fixture.done', event => { try { event.data.what = 'mine' } catch { hear('refused') } })`,
  });
  t.match(await app.post('/emit', { what: 'dinner' }), { status: 200 });
  await until(() => heard.one && heard.all && heard.meddler);
  for (const name of ['one', 'all'])
    t.match(heard[name], [{ type: 'fixture.done', plugin: 'emitter', at: Number, data: { what: 'dinner' } }], name);
  t.same(heard.meddler, ['refused'], "what all hear is nobody's to change");
  t.equal(heard.other, undefined);
  const [{ at }] = heard.one as [{ at: number }];
  t.ok(at > 1_000_000_000 && at < 100_000_000_000, 'Unix seconds');
});

t.test(
  "a listener that throws, rejects or hangs is told of as its own plugin's fault, and holds nobody up",
  async t => {
    const { app, heard, report } = await startWith(t, {
      thrower: `host.on('fixture.done', () => { throw new Error('no') })`,
      rejecter: `host.on('fixture.done', async () => { throw new Error('no') })`,
      hanger: `host.on('fixture.done', event => { hear(event.data.number); return new Promise(() => {}) })`,
      zealous: `host.on('fixture.done', event => hear(event.data.number))`,
    });
    for (const number of [1, 2, 3]) t.match(await app.post('/emit', { number }), { status: 200 });
    await until(() => heard.zealous?.length === 3 && heard.hanger?.length === 3);
    t.same(heard.zealous, [1, 2, 3], 'in order');
    t.same(heard.hanger, [1, 2, 3]);
    await until(() => report('rejecter')?.errors.event === 3);
    await until(() => report('hanger')?.errors.event === 3, { what: 'the late ones to be told' });
    t.equal(report('thrower')?.errors.event, 3);
    t.same(report('emitter')?.errors, {});
    const lines = await until(async () => {
      const found = (await ownLog(app)).match(/rejecter: .*listener on fixture.done.*/g) ?? [];
      return found.length >= 3 ? found : undefined;
    });
    t.equal(lines.length, 3, 'each fault once');
  },
);

t.test('a type of event has one owner, and only that plugin may emit it', async t => {
  const { app, report } = await startWith(t, {
    thief: `host.event('fixture.done', { description: 'Mine as well' })`,
    forger: `host.route({ method: 'POST', path: '/forge', summary: 'x', handle () { host.emit('fixture.done', {}) } })`,
  });
  t.match(report('thief'), { state: 'failed', reason: /'fixture.done' of thief is already owned by emitter/ });
  t.equal((await app.post('/forge')).status, 500);
  t.equal((await app.post('/emit-undeclared')).status, 500);
  t.same((await app.get('/events')).body, [
    { type: 'fixture.done', plugin: 'emitter', description: 'Something is done' },
  ]);
});

t.test('a plugin that is gone gets no events, and its types are gone', async t => {
  const { app, heard, remove } = await startWith(t, {
    leaver: `host.event('fixture.left', { description: 'x' }); host.on('fixture.done', event => hear(event.data.number))`,
    stayer: `host.on('fixture.done', event => hear(event.data.number))`,
  });
  await app.post('/emit', { number: 1 });
  await until(() => heard.leaver?.length === 1);
  await remove('leaver');
  await until(async () => (await app.get('/events')).body.length === 1, { what: 'the plugin to be gone' });
  await app.post('/emit', { number: 2 });
  await until(() => heard.stayer?.length === 2);
  t.same(heard.leaver, [1]);
});

t.test('a reloaded plugin gets the events of the meantime, once and in order', async t => {
  const gate = new EventEmitter();
  Object.assign(globalThis, { stackwardenGate: gate });
  t.teardown(() => Reflect.deleteProperty(globalThis, 'stackwardenGate'));
  const { app, heard, report, replace } = await startWith(t, {
    changing: `host.on('fixture.done', ({ data }) => hear('old ' + data.number))
      host.on('*', ({ data }) => hear('old ' + data.number))
      return () => new Promise(go => globalThis.stackwardenGate.once('dispose', go).emit('disposing'))`,
    steady: `host.on('fixture.done', ({ data }) => hear(data.number))`,
  });
  const emit = async (number: number) => t.match(await app.post('/emit', { number }), { status: 200 });
  const disposing = once(gate, 'disposing');
  await replace(
    'changing',
    `host.on('fixture.done', ({ data }) => hear('early ' + data.number))
     return new Promise(go => globalThis.stackwardenGate.once('set up', go).emit('setting up'))
       .then(() => { host.on('fixture.done', ({ data }) => hear('late ' + data.number)) })`,
  );
  await disposing;
  await emit(1);
  const settingUp = once(gate, 'setting up');
  gate.emit('dispose');
  await settingUp;
  await emit(2);
  gate.emit('set up');
  await until(() => report('changing')?.state === 'ready' && heard.changing?.length === 4);
  await emit(3);
  await until(() => heard.changing?.length === 6);
  for (const who of ['early', 'late'])
    t.same(
      heard.changing?.filter(text => String(text).startsWith(who)),
      [1, 2, 3].map(number => `${who} ${number}`),
    );
  await until(() => heard.steady?.length === 3);
  t.same(heard.steady, [1, 2, 3]);
});

t.test('many events at once yield to other work, and keep the context of their emitter', async t => {
  const contexts = new AsyncLocalStorage<number>();
  const order: unknown[] = [];
  Object.assign(globalThis, { stackwardenContexts: contexts, stackwardenOrder: order });
  t.teardown(() => ['stackwardenContexts', 'stackwardenOrder'].map(name => Reflect.deleteProperty(globalThis, name)));
  const { app } = await startWith(t, {
    crowd: `host.event('fixture.one-of-many', { description: 'x' })
      host.route({ method: 'POST', path: '/emit-many', summary: 'x', handle () {
        for (let number = 0; number < 50; number += 1)
          globalThis.stackwardenContexts.run(number, () => host.emit('fixture.one-of-many', { number }))
        const heard = globalThis.stackwardenOrder
        setTimeout(() => heard.push('a timer'))
      } })`,
    worker: `host.on('fixture.one-of-many', ({ data }) => {
      globalThis.stackwardenOrder.push([data.number, globalThis.stackwardenContexts.getStore()])
      const end = performance.now() + 1
      while (performance.now() < end);
    })`,
  });
  t.equal((await app.post('/emit-many')).status, 200);
  await until(() => order.length === 51);
  t.ok(order.indexOf('a timer') < 50, 'a timer fires between them');
  t.same(
    order.filter(Array.isArray),
    Array.from({ length: 50 }, (_, number) => [number, number]),
  );
});
