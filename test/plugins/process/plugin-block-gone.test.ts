// A plugin that turns a part of the configuration into a service is unloaded while the service runs: it stays listed
// and can be stopped while it runs, whatever is saved, and cannot start again before the plugin is back.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { kid, lives, pidOf, restart, start, status, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const BLOCK = `{
  enabled: true, process_name: 'Given', command: ['sleep', '600'], suppress_logging: true, stop_grace_seconds: 1,
}`;

/** The ways in which a plugin can turn a part of the configuration into a service. */
const WAYS = {
  'by the defaults of a section': `host.contribute('config.schema', 'given', {
    path: ['given'],
    schema: host.z.looseObject(Object.fromEntries(
      Object.entries(${BLOCK}).map(([key, value]) => [key, host.z.any().default(value)]),
    )),
  })`,
  'by a template': `host.contribute('config.template', 'given', { path: ['given'], block: () => (${BLOCK}) })`,
  'by a template of instances': `host.contribute('config.template', 'given', {
    path: ['given', 'instances', 'Default'], block: () => (${BLOCK}),
  })`,
};

async function launched(t: Test, way: string, given: object | undefined = undefined) {
  const folder = path.join(testDir(t, { plugins: {} }), 'plugins', 'giver');
  const come = async (): Promise<void> => {
    await mkdir(folder);
    const code = `export default { name: 'giver', host: '^1', setup (host) { ${way} } }`;
    await writeFile(path.join(folder, 'index.mjs'), code);
  };
  await come();
  const app = await startHost({
    config: given === undefined ? {} : { given },
    pluginDirs: [pluginsDir, path.dirname(folder)],
    plugins: ['config', 'process', 'logs', 'giver'],
  });
  t.teardown(() => app.stop());
  await until(async () => (await status(app, 'Given')).status === 'running', { what: 'the service to run' });
  return { app, come, go: () => rm(folder, { recursive: true }), pid: await pidOf(app, 'Given') };
}

const problem = async (app: TestHost) => (await app.get('/process?process_name=Given')).body.config_problem;
const becomesProblem = (app: TestHost) =>
  until(async () => (await problem(app)) !== null, { what: 'the plugin to be gone' });
const save = (app: TestHost) => app.post('/config', { updates: { dumb: { log_level: 'DEBUG' } } });

for (const [name, way] of Object.entries(WAYS)) {
  t.test(`made ${name}`, async t => {
    const { app, come, go, pid } = await launched(t, way);
    await go();
    await becomesProblem(app);
    t.match(await problem(app), /the plugin giver, which makes it a service, is gone/);
    t.match(await status(app, 'Given'), { status: 'running' });
    const { processes } = (await app.get('/process/processes')).body;
    t.match(
      processes.filter(({ process_name: listed }: { process_name: string }) => listed === 'Given'),
      [{ status: 'running' }],
    );
    t.equal((await app.get('/logs?process_name=Given')).status, 200);

    t.equal((await save(app)).status, 200);
    t.match(await status(app, 'Given'), { status: 'running' }, 'a change of something else does not end it');
    t.ok(lives(pid));
    const refused = await restart(app, 'Given');
    t.match(refused, { status: 409, body: { detail: /giver.* is gone.*until then it goes on running/ } });
    t.ok(lives(pid), 'what cannot be started again is not stopped by a restart');

    t.match(await stop(app, 'Given'), { status: 200 });
    t.notOk(lives(pid));
    t.match(await start(app, 'Given'), { status: 404 }, 'then it is a service no more');
    t.equal((await app.get('/process?process_name=Given')).status, 404);
    const file = await readFile(path.join(app.configDir, 'stackwarden.json'), 'utf8');
    t.notMatch(file, 'given', 'nothing of it was saved');

    await come();
    await until(async () => (await app.get('/process?process_name=Given')).status === 200);
    t.match(await start(app, 'Given'), { status: 200 }, 'with its plugin it is one again');
  });
}

t.test('what was stopped by hand stays so when the plugin is back, whatever is saved meanwhile', async t => {
  const { app, come, go } = await launched(t, WAYS['by a template']);
  t.match(await stop(app, 'Given'), { status: 200 });
  await go();
  const known = async () => (await app.get('/process?process_name=Given')).status;
  await until(async () => (await known()) === 404, { what: 'the plugin to be gone' });
  t.equal((await save(app)).status, 200);
  await come();
  await until(async () => (await known()) === 200, { what: 'the plugin to be back' });
  t.match(await status(app, 'Given'), { status: 'stopped', restart: { disabled: true } });
});

t.test('the plugin comes back while the service runs', async t => {
  const { app, come, go, pid } = await launched(t, WAYS['by a template']);
  await go();
  await becomesProblem(app);
  await come();
  await until(async () => (await problem(app)) === null, { what: 'the plugin to be back' });
  t.ok(lives(pid), 'it was not started anew');
  t.match(await restart(app, 'Given'), { status: 200 });
  t.notOk(lives(pid));
});

t.test('it is stopped by the policy of its kind, which is gone too', async t => {
  const block = { ...kid('Given', ['ignore-term']), enabled: true };
  const way = `host.contribute('config.template', 'given', { path: ['given'], block: () => (${JSON.stringify(block)}) });
    host.contribute('process.stop-policy', 'given', { configKey: 'given', signal: 'SIGINT' })`;
  const { app, go } = await launched(t, way);
  await go();
  await becomesProblem(app);
  t.match(await stop(app, 'Given'), { status: 200 });
  const log = await readFile(path.join(app.configDir, 'log/given.log'), 'utf8');
  t.match(log, 'ignored SIGINT');
  t.notMatch(log, 'ignored SIGTERM');
});

t.test('what the file says of it is changed meanwhile', async t => {
  const { app, go, pid } = await launched(t, WAYS['by the defaults of a section'], { enabled: true });
  await go();
  await becomesProblem(app);
  const file = path.join(app.configDir, 'stackwarden.json');
  const root = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...root, given: { enabled: true, note: 'mine' } }));
  const block = async () => (await app.get('/process?process_name=Given')).body.config;
  await until(async () => (await block()).note === 'mine', { what: 'the change of the file' });
  t.ok(lives(pid));
  await writeFile(file, JSON.stringify({ ...root, given: undefined }));
  await until(() => !lives(pid), { what: 'its end, as of every service that is taken out of the file' });
  t.equal((await app.get('/process?process_name=Given')).status, 404);
});

t.test('the name is in the file, and the plugin gives the rest', async t => {
  const { app, go, pid } = await launched(t, WAYS['by a template'], { enabled: true, process_name: 'Given' });
  await go();
  await until(async () => (await app.get('/process?process_name=Given')).body.config.command === undefined);
  t.equal((await save(app)).status, 200);
  t.match(await status(app, 'Given'), { status: 'running' });
  t.match((await restart(app, 'Given')).body, { detail: /until then it goes on running/ });
  t.ok(lives(pid));
  t.match(await stop(app, 'Given'), { status: 200 });
});
