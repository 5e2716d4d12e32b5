// Holds: while a plugin works on a process, no user, plugin or policy can start or stop it.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { healthServer, policy } from '../../support/auto-restart.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { lives, pidOf, restart, start, status, stop } from '../../support/kids.ts';
import { leaveBehind } from '../../support/left-behind.ts';
import { ownLog } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const NAME = 'Kid';
const REASON = 'its files are moved';

/** `POST /hold` begins a hold, `/tell` makes its work do something, `GET /steps` gives the results so far. */
const HOLDER = `let zod
export default { name: 'holder', host: '^1', needs: ['process'], config: z => (zod = z).object({}), setup (host) {
  const steps = []
  let wake = () => {}
  let tidy
  const note = (what, promise) => promise.then(
    value => steps.push([what, value?.status ?? value ?? null]),
    error => steps.push([what, error.message]),
  )
  host.route({ method: 'POST', path: '/hold', summary: 'x', body: zod.any(), handle ({ body: { first, tidies, ...body } }) {
    if (body.signal === null) body.signal = undefined
    if (first !== undefined) note(first, host.use('process.supervisor')[first]('${NAME}', 'request'))
    note('hold', host.use('process.supervisor').hold('${NAME}', '${REASON}', async held => {
      steps.push(['work', held.snapshot().status])
      globalThis.stackwardenHeld = held
      if (tidies) return new Promise(resolve => { tidy = () => held.stop().then(resolve) })
      for (;;) {
        const told = await new Promise(resolve => { wake = resolve })
        if (told === 'end') return 'done'
        if (told === 'throw') throw new Error('the work failed')
        await note(told, held[told]())
      }
    }, { signal: host.signal, ...body }))
    return {}
  } })
  host.route({ method: 'POST', path: '/await', summary: 'x', handle () {
    note('released', host.use('process.supervisor').released('${NAME}'))
    return {}
  } })
  host.route({ method: 'POST', path: '/tell', summary: 'x', body: zod.any(), handle ({ body }) { wake(body.told); return {} } })
  host.route({ method: 'GET', path: '/steps', summary: 'x', handle: () => ({ steps, listed: host.use('process.supervisor').list() }) })
  return () => tidy?.()
} }`;

async function startWith(t: Test, block: object = {}, dumb: object = {}, supervisor: Record<string, string> = {}) {
  const configDir = testDir(t, { plugins: { holder: { 'index.js': HOLDER } }, supervisor });
  const kid = {
    enabled: false,
    process_name: NAME,
    command: ['sleep', '600'],
    suppress_logging: true,
    stop_grace_seconds: 1,
    ...block,
  };
  const app = await startHost({
    configDir,
    config: { dumb: { startup: { stabilization_seconds: 0 }, ...dumb }, kid },
    plugins: ['process', 'auto-restart', 'health-probe', 'holder', 'config'],
  });
  t.teardown(() => app.stop());
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  const steps = async () => (await app.get('/steps')).body.steps as [string, unknown][];
  return {
    app,
    steps,
    hold: (options: object = {}) => app.post('/hold', options),
    tell: (told: string) => app.post('/tell', { told }),
    came: (what: string) =>
      until(async () => (await steps()).find(([step]) => step === what), { what: `${what} to be done` }),
    touch: () => writeFile(path.join(configDir, 'plugins', 'holder', 'index.js'), `${HOLDER}\n`),
    remove: () => rm(path.join(configDir, 'plugins', 'holder'), { recursive: true }),
  };
}

t.test('the work waits until what an earlier host left behind has ended', async t => {
  const { pid: left, state } = await leaveBehind(t, NAME);
  const { app, hold, came, steps } = await startWith(t, { stop_grace_seconds: 600 }, {}, { 'state.json': state });
  t.equal((await status(app, NAME)).status, 'unknown');
  await hold();
  await until(async () => (await status(app, NAME)).held !== null);
  t.same(await steps(), []);
  t.ok(lives(left));
  process.kill(left, 'SIGKILL');
  t.same(await came('work'), ['work', 'stopped']);
});

t.test('only the holder can start and stop a held process, and others are told why', async t => {
  const { app, hold, tell, came, steps } = await startWith(t);
  await start(app, NAME);
  t.equal((await status(app, NAME)).held, null);
  await hold();
  t.same(await came('work'), ['work', 'running']);
  const refusal = { status: 409, body: { detail: `${NAME} is held: ${REASON}; try again when that is done` } };
  for (const operation of [start, stop, restart]) t.match(await operation(app, NAME), refusal);
  t.match(await app.post('/config', { updates: { kid: null } }), { status: 409 });
  t.match((await status(app, NAME)).held, { reason: REASON, since: Number });
  const entries = async () => (await app.get('/process/processes')).body.processes;
  t.match((await entries()).find((entry: { key: string }) => entry.key === 'kid').held, { reason: REASON });
  t.notOk((await steps()).some(([what]) => what === 'hold'));
  await tell('stop');
  t.same(await came('stop'), ['stop', 'stopped']);
  t.match(await status(app, NAME), { status: 'stopped', restart: { disabled: false } });
  t.match(await start(app, NAME), refusal);
  await tell('start');
  t.same(await came('start'), ['start', 'started']);
  await app.post('/await');
  await tell('end');
  t.same(await came('hold'), ['hold', 'done']);
  await came('released');
  t.equal((await status(app, NAME)).held, null);
  t.equal((await entries()).find((entry: { key: string }) => entry.key === 'kid').held, null);
  const held = (globalThis as unknown as { stackwardenHeld: { stop(): Promise<unknown> } }).stackwardenHeld;
  // The handle of an ended hold is useless.
  await t.rejects(held.stop(), { message: /has ended/ });
  t.match((await stop(app, NAME)).body, { status: 'Service stopped successfully' });
});

for (const first of ['start', 'restart']) {
  t.test(`a ${first} that is asked for just before is done before the work, or not at all`, async t => {
    const { app, hold, tell, came, steps } = await startWith(t);
    if (first === 'restart') await start(app, NAME);
    await hold({ first });
    await came(first);
    await came('work');
    const [one, two] = await steps();
    t.ok(one?.[0] === first || / is held: /.test(String(two?.[1])), `${one} before ${two}`);
    await tell('end');
    await came('hold');
  });
}

t.test('a hold waits for a running start, which a user may still stop', async t => {
  const wanted = path.join(testDir(t, {}), 'wanted');
  const { app, hold, tell, came, steps } = await startWith(t, { wait_for_dir: wanted });
  const started = start(app, NAME);
  await until(async () => (await status(app, NAME)).health_reason?.includes(wanted));
  await hold();
  await until(async () => (await status(app, NAME)).held !== null);
  t.match(await restart(app, NAME), { status: 409 });
  t.same(await steps(), [], 'the work has not begun');
  await mkdir(wanted);
  t.match(await started, { status: 200 });
  t.same(await came('work'), ['work', 'running']);
  await tell('end');
  await came('hold');

  await stop(app, NAME);
  await rm(wanted, { recursive: true });
  const cancelled = start(app, NAME);
  await until(async () => (await status(app, NAME)).health_reason?.includes(wanted));
  await hold();
  await until(async () => (await status(app, NAME)).held !== null);
  t.match((await stop(app, NAME)).body, { status: 'Service stopped successfully' });
  t.match(await cancelled, { status: 409 });
  await until(async () => (await steps()).some(([what, value]) => what === 'work' && value === 'stopped'));
  await tell('end');
});

t.test('auto-restart waits until the hold has ended', async t => {
  const { app, hold, tell, came } = await startWith(
    t,
    {},
    { auto_restart: policy({ services: [{ process_name: NAME }] }) },
  );
  await start(app, NAME);
  await hold();
  await came('work');
  const pid = await pidOf(app, NAME);
  process.kill(pid, 'SIGKILL');
  await until(async () => (await status(app, NAME)).restart.pending, { what: 'a restart to be planned' });
  await tell('start');
  t.same(await came('start'), ['start', 'started'], 'the holder comes first');
  process.kill(await pidOf(app, NAME), 'SIGKILL');
  await until(async () => (await status(app, NAME)).status === 'stopped');
  t.equal((await status(app, NAME)).restart.restart_attempts, 0);
  await tell('end');
  await until(async () => (await status(app, NAME)).restart.restart_attempts === 1);
  await until(async () => (await status(app, NAME)).status === 'running');
});

t.test('a restart that was planned before the hold is not made of what the holder started', async t => {
  let word = 'down';
  const { health } = await healthServer(t, () => word);
  const unhealthy = policy({ services: [{ process_name: NAME }], backoff_seconds: [600] });
  const { app, hold, tell, came } = await startWith(t, { health }, { auto_restart: unhealthy });
  await start(app, NAME);
  await until(async () => (await status(app, NAME)).restart.pending, { what: 'a restart to be planned' });
  await hold();
  await came('work');
  await tell('stop');
  await came('stop');
  // Neither healthy nor unhealthy.
  word = 'starting';
  await tell('start');
  await came('start');
  await tell('end');
  await until(async () => !(await status(app, NAME)).restart.pending, { what: 'the plan to be dropped' });
  t.equal((await status(app, NAME)).restart.restart_attempts, 0);
});

t.test('a hold ends however its work ends', async t => {
  const { app, hold, tell, came, steps, remove } = await startWith(t);
  await hold();
  await came('work');
  await hold();
  t.match(await came('hold'), ['hold', /is held: its files are moved/], 'there is one at a time');
  await tell('throw');
  await until(async () => (await steps()).some(([, value]) => value === 'the work failed'));
  t.equal((await status(app, NAME)).held, null);

  await hold({ deadlineMs: 50 });
  await until(async () => (await steps()).some(([, value]) => /took longer than 0.05 s/.test(String(value))));
  t.equal((await status(app, NAME)).held, null);
  t.match(
    app.host.plugins().find(({ name }) => name === 'process'),
    { errors: {} },
    'it is the holder who was late',
  );
  await tell('start');
  await until(async () =>
    (await steps()).some(([what, value]) => what === 'start' && /took longer/.test(String(value))),
  );
  t.equal((await status(app, NAME)).status, 'stopped', 'whoever is late can do nothing any more');

  await hold();
  await until(async () => (await status(app, NAME)).held !== null);
  await remove();
  await until(async () => (await status(app, NAME)).held === null, { what: 'the hold to end with its owner' });
  t.match(await start(app, NAME), { status: 200 });
});

for (const end of ['remove', 'touch'] as const) {
  t.test(`a hold that was taken without a signal ends with its plugin: ${end}`, async t => {
    const holder = await startWith(t);
    const { app, hold, came } = holder;
    await hold({ signal: null });
    await came('work');
    t.not((await status(app, NAME)).held, null);
    await holder[end]();
    await until(async () => (await status(app, NAME)).held === null, { what: 'the hold to end with its owner' });
    t.match(await start(app, NAME), { status: 200 });
    const row = app.host.plugins().find(({ name }) => name === 'process');
    t.match(row, { state: 'ready', errors: {} }, 'nobody else is blamed');
  });
}

t.test(
  'a hold without a signal lasts while the disposers of its plugin run, which bring its work to an end',
  async t => {
    const { app, hold, came, remove } = await startWith(t);
    await start(app, NAME);
    await hold({ signal: null, tidies: true });
    await came('work');
    await remove();
    await until(async () => (await status(app, NAME)).held === null, { what: 'the hold to end with its owner' });
    t.match(await status(app, NAME), { status: 'stopped' }, 'its last step was done');
  },
);

t.test('a held process whose block is removed is stopped after the hold', async t => {
  const { app, hold, tell, came } = await startWith(t);
  const edit = async (change: (config: Record<string, unknown>) => void): Promise<void> => {
    const config = JSON.parse(await readFile(app.host.configFile, 'utf8')) as Record<string, unknown>;
    change(config);
    await writeFile(app.host.configFile, JSON.stringify(config));
  };
  const isConfigured = async () => (await app.get('/config')).body.kid !== undefined;
  const told = async () =>
    (await ownLog(app)).split(`${NAME} left the configuration while it is held: ${REASON}`).length - 1;
  const { kid } = JSON.parse(await readFile(app.host.configFile, 'utf8'));
  await start(app, NAME);
  const pid = await pidOf(app, NAME);
  await hold();
  await came('work');
  await edit(config => delete config.kid);
  await until(async () => (await told()) === 1);
  t.notOk(await isConfigured());
  const listed = async () =>
    (await app.get('/steps')).body.listed.find(({ processName }: { processName: string }) => processName === NAME);
  t.match(await listed(), { status: 'running', pid, held: { reason: REASON } });

  await edit(config => Object.assign(config, { kid }));
  await until(isConfigured);
  await edit(config => delete config.kid);
  await until(async () => !(await isConfigured()));
  await tell('stop');
  t.same(await came('stop'), ['stop', 'stopped'], 'its holder is in control all the time');
  await tell('start');
  t.same(await came('start'), ['start', 'started']);
  const next = await pidOf(app, NAME);
  await tell('end');
  await came('hold');
  await until(() => !lives(next), { what: 'the process to be stopped' });
  t.equal(await listed(), undefined);
  t.equal(await told(), 1, 'it is told once');
});
