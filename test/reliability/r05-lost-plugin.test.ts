// R5: a service that is one only by what a plugin gives to its block, whose plugin is gone when the next host starts:
// it goes on, is listed and can be stopped as it asks to be, and is not started again before the plugin is back.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../support/directory.ts';
import { changeMainFile } from '../support/host-config.ts';
import { lives } from '../support/kids.ts';
import { withNeeds } from '../support/needs.ts';
import { type RunningStackwarden, startStackwarden, writeConfig } from '../support/stackwarden.ts';
import { until } from '../support/until.ts';

const SCRIPT = `for one in INT TERM; do trap "echo told by $one; exit 0" $one; done
while :; do echo said; sleep 0.1; done`;
const BLOCK = {
  enabled: true,
  process_name: 'Given',
  command: ['sh', '-c', SCRIPT],
  env: { PASSWORD: 'told to nobody' },
  suppress_logging: true,
  stop_grace_seconds: 20,
};
const PLUGIN = `export default { name: 'giver', host: '^1', setup (host) {
  host.contribute('config.template', 'given', { path: ['given'], block: () => (${JSON.stringify(BLOCK)}) })
  host.contribute('process.stop-policy', 'given', { configKey: 'given', signal: 'SIGINT', tier: 3 })
} }`;

const ask = async ({ base }: RunningStackwarden, route: string, body?: object) => {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(base + route, body && post);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const entryOf = (host: RunningStackwarden) => ask(host, '/process?process_name=Given');
const statusOf = async (host: RunningStackwarden) =>
  (await ask(host, '/process/service-status?process_name=Given')).body.status;
const operate = (host: RunningStackwarden, verb: string) =>
  ask(host, `/process/${verb}-service`, { process_name: 'Given' });

/** A host of which nothing is left but its service, and whose plugin is gone. */
async function without(t: Test, given: object | undefined) {
  const dir = testDir(t, { config: { plugins: { giver: { 'index.mjs': PLUGIN } } } });
  const configDir = path.join(dir, 'config');
  const folder = path.join(configDir, 'plugins/giver');
  const enabled = [...(await withNeeds(['config', 'process', 'logs'])), 'giver'];
  const port = await writeConfig(configDir, { dumb: { plugins: { enabled } }, ...(given && { given }) });
  const open = () => startStackwarden(configDir, port);
  const first = await open();
  await until(async () => (await statusOf(first)) === 'running', { what: 'the service' });
  const state = async () => JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8'));
  const { pid } = (await state()).processes.Given;
  first.child.kill('SIGKILL');
  await first.exited;
  await rm(folder, { recursive: true });
  const come = async (): Promise<void> => {
    await mkdir(folder);
    await writeFile(path.join(folder, 'index.mjs'), PLUGIN);
  };
  const end = async (host: RunningStackwarden): Promise<void> => {
    host.child.kill('SIGTERM');
    await host.exited;
  };
  return { configDir, pid, state, open, come, end };
}

for (const given of [undefined, { enabled: true }]) {
  t.test(`it goes on${given === undefined ? '' : ', also with a part of it in the file'}`, async t => {
    const { configDir, pid, state, open, come, end } = await without(t, given);
    for (const which of ['next', 'one after it']) {
      const host = await open();
      await until(async () => (await statusOf(host)) === 'running', { what: `the service in the ${which}` });
      host.child.kill('SIGKILL');
      await host.exited;
    }
    const host = await open();
    await until(async () => (await statusOf(host)) === 'running', { what: 'the service' });
    t.ok(lives(pid));
    t.equal((await state()).processes.Given.pid, pid, 'it was not started anew');
    t.match((await entryOf(host)).body.config_problem, /the plugin giver, which makes it a service, is gone/);
    const listed = (await ask(host, '/process/processes')).body.processes as { process_name: string }[];
    t.match(
      listed.find(one => one.process_name === 'Given'),
      { status: 'running', enabled: true },
    );
    t.match(await operate(host, 'restart'), { status: 409, body: { detail: /giver.* is gone.*it goes on running/ } });
    t.notMatch(JSON.stringify(await state()), 'told to nobody');

    t.match(await operate(host, 'stop'), { status: 200 });
    t.notOk(lives(pid));
    const log = await readFile(path.join(configDir, 'log/given.log'), 'utf8');
    t.match(log, 'told by INT', 'by the signal of its policy, in its own log');
    t.notMatch(host.stdout(), 'Given subprocess');
    t.match(await operate(host, 'start'), { status: 404 });

    await come();
    await until(async () => (await entryOf(host)).status === 200, { what: 'the plugin to be back' });
    t.match(await operate(host, 'start'), { status: 200 });
    await end(host);
  });
}

t.test('the plugin comes back while the service runs', async t => {
  const { pid, open, come, end } = await without(t, undefined);
  const host = await open();
  await until(async () => (await statusOf(host)) === 'running', { what: 'the service' });
  await come();
  await until(async () => (await entryOf(host)).body.config_problem === null, { what: 'the plugin to be back' });
  t.ok(lives(pid));
  t.match(await operate(host, 'restart'), { status: 200 });
  t.notOk(lives(pid));
  await end(host);
});

t.test('what the file had of it is gone too: then it is stopped, as it asks to be', async t => {
  const { configDir, pid, state, open, end } = await without(t, { enabled: true });
  await changeMainFile(configDir, ({ given: _gone, ...rest }) => rest);
  const host = await open();
  await until(async () => (await state()).processes.Given === undefined, { what: 'its end' });
  t.notOk(lives(pid));
  t.match(await readFile(path.join(configDir, 'log/given.log'), 'utf8'), 'told by INT');
  t.equal((await entryOf(host)).status, 404);
  await end(host);
});

t.test('it has ended as well: nothing of it is left, and it is started when the plugin is back', async t => {
  const { pid, state, open, come, end } = await without(t, undefined);
  process.kill(pid, 'SIGKILL');
  const host = await open();
  await until(async () => (await state()).processes.Given === undefined, { what: 'its record to be cleared away' });
  t.equal((await entryOf(host)).status, 404);
  await come();
  await until(async () => (await statusOf(host)) === 'running', { what: 'the service' });
  await end(host);
});

t.test('the configuration cannot be used either, and is mended afterwards', async t => {
  const { configDir, pid, state, open, end } = await without(t, undefined);
  const file = path.join(configDir, 'stackwarden.json');
  const text = await readFile(file, 'utf8');
  await changeMainFile(configDir, config => ({ ...config, puid: 'nobody' }));
  const host = await open();
  await until(async () => (await ask(host, '/process/startup-status')).body.phase === 'degraded');
  t.ok(lives(pid));
  await writeFile(file, text);
  await until(async () => (await statusOf(host)) === 'running', { what: 'the service' });
  t.equal((await state()).processes.Given.pid, pid);
  await end(host);
});

t.test('an orderly stop ends it with the rest', async t => {
  const { configDir, pid, open, end } = await without(t, undefined);
  const host = await open();
  await until(async () => (await statusOf(host)) === 'running', { what: 'the service' });
  await end(host);
  t.notOk(lives(pid));
  t.match(await readFile(path.join(configDir, 'log/given.log'), 'utf8'), 'told by INT');
});
