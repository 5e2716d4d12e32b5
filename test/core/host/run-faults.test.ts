// Faults of a running plugin are caught, counted and shown in its entry, while everything else goes on.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a route that throws answers 500 with an id, and the log holds the cause under it', async t => {
  const dir = testDir(t, {
    faulty: {
      'index.js': `export default { name: 'faulty', host: '^1', setup (host) {
        host.route({ method: 'GET', path: '/boom', summary: 'x', handle () { throw new Error('the inner cause') } })
        host.route({ method: 'GET', path: '/fine', summary: 'x', handle: () => ({ ok: true }) })
      } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  const answer = await app.get('/boom');
  t.equal(answer.status, 500);
  t.notMatch(answer.text, /inner cause|at .*index\.js/);
  t.match(answer.body.detail, /[0-9a-f]{6,}/, 'an id to look for');
  t.equal(app.host.plugins()[0]?.errors.route, 1);
  t.equal((await app.get('/fine')).status, 200);
});

t.test('work that ends because its client or its plugin goes is no fault', async t => {
  const wait =
    "new Promise((_, reject) => signal.addEventListener('abort', () => { ended += 1; reject(signal.reason) }))";
  const app = await startWithPlugins(t, {
    asked: {
      more: "after: ['asking'],",
      setup: `host.provide('asked.wait', { wait: signal => host.find('asking.work').wait(signal) })`,
    },
    asking: `
      let ended = 0
      let begun = 0
      host.provide('asking.work', { wait: signal => ${wait} })
      host.route({ method: 'GET', path: '/counts', summary: 'x', handle: () => ({ begun, ended }) })
      host.route({ method: 'GET', path: '/direct', summary: 'x', handle ({ signal }) { begun += 1; return ${wait} } })
      host.route({ method: 'GET', path: '/across', summary: 'x', handle ({ signal }) { begun += 1; return host.find('asked.wait').wait(signal) } })
      host.route({ method: 'GET', path: '/own', summary: 'x', handle () { begun += 1; const { signal } = host; return ${wait} } })`,
  });
  const counts = async () => (await app.get('/counts')).body as { begun: number; ended: number };
  const leave = new AbortController();
  const lost = ['/direct', '/across'].map(path =>
    fetch(app.base + path, { signal: leave.signal }).then(
      () => 'answered',
      () => 'gone',
    ),
  );
  await until(async () => (await counts()).begun === 2);
  leave.abort();
  t.same(await Promise.all(lost), ['gone', 'gone']);
  await until(async () => (await counts()).ended === 2);
  const own = app.get('/own');
  await until(async () => (await counts()).begun === 3);
  await app.host.stop();
  t.match(await own, { status: 503, body: { detail: 'The plugin asking is being stopped' } });
  for (const { name, errors } of app.host.plugins()) t.same(errors, {}, name);
  t.notMatch(await ownLog(app), / - ERROR - /);
});

t.test('taps, timers and jobs that throw are counted, and the others run', async t => {
  const seen: string[] = [];
  Object.assign(globalThis, { faultsSeen: seen });
  const dir = testDir(t, {
    'a-faulty': {
      'index.js': `export default { name: 'a-faulty', host: '^1', async setup (host) {
        host.tap('host.ready', () => { throw new Error('tap') })
        host.every(1, () => { throw new Error('timer') })
        const jobs = await host.jobs('doomed', { run: () => { throw new Error('job') } })
        host.route({ method: 'POST', path: '/job', summary: 'x', handle: () => jobs.run('key').catch(error => ({ caught: error.message })) })
      } }`,
    },
    'b-fine': {
      'index.js': `export default { name: 'b-fine', host: '^1', setup (host) {
        host.tap('host.ready', () => { globalThis.faultsSeen.push('ready') })
        host.every(1, () => { globalThis.faultsSeen.push('tick') })
      } }`,
    },
  });
  const app = await startHost({ pluginDirs: [dir] });
  t.teardown(() => app.stop());
  t.same((await app.post('/job')).body, { caught: 'job' });
  await until(() => seen.includes('tick') && (app.host.plugins()[0]?.errors.timer ?? 0) > 1);
  t.equal(seen[0], 'ready');
  t.match(app.host.plugins()[0]?.errors, { tap: 1, job: 1 });
});

t.test('a failing listener of the log is reported once, as a fault of its plugin', async t => {
  const heard: string[] = [];
  Object.assign(globalThis, { logHeardOfTest: heard });
  const app = await startWithPlugins(t, {
    hearer: `const isMeant = records => records.some(({ text }) => text.includes('to whom it may concern'))
      const hub = host.use('log.hub')
      hub.subscribe(records => { if (isMeant(records)) throw new Error('it throws') })
      hub.subscribe(async records => { if (isMeant(records)) throw new Error('it rejects') })
      hub.subscribe(records => { if (isMeant(records)) globalThis.logHeardOfTest.push('heard') })`,
    speaker: `host.route({ method: 'POST', path: '/speak', summary: 'x', handle () { host.log.info('to whom it may concern') } })`,
  });
  const errorsOf = (name: string) => app.host.plugins().find(plugin => plugin.name === name)?.errors;
  for (const round of [1, 2]) {
    t.equal((await app.post('/speak')).status, 200);
    await until(() => heard.length === round);
  }
  await until(() => errorsOf('hearer')?.callback === 2);
  t.same(errorsOf('speaker'), {});
  const log = await until(async () => {
    const text = await ownLog(app);
    return text.includes('it rejects') ? text : undefined;
  });
  t.equal(
    log.match(/hearer: callback failed \(index\.js:\d+\): a listener of the log \(it hears no more\): it /g)?.length,
    2,
  );
});

t.test('a plugin directory that cannot be read changes nothing while the host runs', async t => {
  const configDir = testDir(t);
  const app = await startHost({ configDir, config: {}, plugins: ['config'] });
  t.teardown(() => app.stop());
  const dirs = [`/${'d'.repeat(300)}`];
  await changeMainFile(configDir, ({ dumb, ...config }) => ({ ...config, dumb: { ...dumb, plugins: { dirs } } }));
  const log = await until(async () => {
    const text = await ownLog(app);
    return text.includes('the plugins stay as they are') ? text : undefined;
  });
  t.match(log, /cannot read the plugin directory/);
  t.equal((await app.get('/config')).status, 200);
});

t.test('a plugin is shown as failed while its disposers still run', async t => {
  const configDir = testDir(t, { plugins: { 'slow-end': {} } });
  const release = path.join(configDir, 'release');
  const source = `import { existsSync } from 'node:fs';
    export default { name: 'slow-end', host: '^1', setup (host) {
      host.route({ method: 'POST', path: '/fail', summary: 'x', handle () { setTimeout(() => { throw new Error('oh') }); return {} } })
      return async () => { while (!existsSync('${release}')) await new Promise(resolve => setTimeout(resolve, 10)) }
    } }`;
  await writeFile(path.join(configDir, 'plugins', 'slow-end', 'index.js'), source);
  const port = await writeConfig(configDir, {});
  const plugins = ['config', 'process', 'auth', 'host-plugins', 'slow-end'];
  const host = await startHostProcess(port, {
    configDir,
    plugins,
    deadlines: { importMs: 60_000, setupMs: 60_000, disposeMs: 600_000 },
  });
  t.teardown(async () => {
    await writeFile(release, '');
    host.child.kill('SIGTERM');
    await host.exited;
  });
  const row = async () => {
    const answer = (await host.json('/host/plugins')) as { plugins: { name: string; state: string; reason: string }[] };
    return answer.plugins.find(({ name }) => name === 'slow-end');
  };
  t.match(await row(), { state: 'ready' });
  await fetch(`${host.base}/fail`, { method: 'POST' });
  await until(async () => (await row())?.state === 'failed');
  t.match(await row(), { reason: /^uncaught error: oh/ });
  t.equal((await fetch(`${host.base}/fail`, { method: 'POST' })).status, 200, 'its disposer still runs');
  await writeFile(release, '');
  await until(async () => (await fetch(`${host.base}/fail`, { method: 'POST' })).status === 404);
});

t.test('the members of a plugin definition are read as code of the plugin', async t => {
  const configDir = testDir(t, {
    plugins: {
      'odd-members': {
        'index.js': `export default new (class {
          name = 'odd-members'
          host = '^1'
          get version () { setTimeout(() => { throw new Error('later of version') }); return '1.2.3' }
          greeting = 'hello'
          config (z) { return z.object({ text: z.string().default(this.greeting) }) }
          setup () {}
        })()`,
      },
    },
  });
  const port = await writeConfig(configDir, {});
  const host = await startHostProcess(port, {
    configDir,
    plugins: ['config', 'process', 'auth', 'host-plugins', 'odd-members'],
  });
  t.teardown(async () => {
    host.child.kill('SIGKILL');
    await host.exited;
  });
  const row = await until(async () => {
    const { plugins } = (await host.json('/host/plugins')) as { plugins: { name: string; state: string }[] };
    return plugins.find(({ name, state }) => name === 'odd-members' && state === 'failed');
  });
  t.match(row, { version: '1.2.3', reason: /^uncaught error: later of version/, errors: { uncaught: 1 } });
});
