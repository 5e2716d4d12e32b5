// The success of a one-shot service outlives the host: it runs again only after an orderly stop of everything, with
// another block, or by a start by hand.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { changeMainFile } from '../../support/host-config.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const PLUGINS = ['config', 'process', 'health-probe'];

t.test('the next hosts after a kill know that a service is done', { timeout: 200_000 }, async t => {
  const configDir = testDir(t, { done: '' });
  await chmod(configDir, 0o755);
  const done = path.join(configDir, 'done');
  const stateFile = path.join(configDir, 'supervisor/state.json');
  await chmod(done, 0o666);
  const work = (word: string) => ({
    enabled: true,
    oneshot: true,
    process_name: 'Work',
    command: ['sh', '-c', `echo ${word} >> ${done}`],
  });
  const port = await writeConfig(configDir, {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    work: work('one'),
    needing: { enabled: true, process_name: 'Needing', command: ['sleep', '600'], depends_on: ['Work'] },
  });
  const open = async () => {
    const host = await startStackwarden(configDir, port, { plugins: PLUGINS });
    const ask = async (route: string) =>
      (await fetch(`${host.base}${route}`)).json() as Promise<Readonly<Record<string, unknown>>>;
    const post = (route: string) =>
      fetch(`${host.base}${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ process_name: 'Work' }),
      });
    await until(async () => (await ask('/process/startup-status')).phase === 'ready', { what: 'the boot' });
    const pid = async () => JSON.parse(await readFile(stateFile, 'utf8')).processes.Needing.pid as number;
    return { host, post, pid, work: () => ask('/process/service-status?process_name=Work&include_health=true') };
  };
  const runs = async () => (await readFile(done, 'utf8')).split('\n').slice(0, -1);
  const end = async ({ host }: Awaited<ReturnType<typeof open>>, signal: 'SIGKILL' | 'SIGTERM') => {
    host.child.kill(signal);
    await host.exited;
  };

  const first = await open();
  t.same(await runs(), ['one']);
  const pid = await first.pid();
  await end(first, 'SIGKILL');
  const second = await open();
  t.same(await runs(), ['one'], 'it is not run beside what needed it');
  t.equal(await second.pid(), pid);
  t.match(await second.work(), { status: 'stopped', health_reason: 'It has done its work' });
  t.equal((await second.post('/process/start-service')).status, 200);
  t.same(await runs(), ['one', 'one'], 'a start by hand does');
  await end(second, 'SIGKILL');

  await changeMainFile(configDir, config => ({ ...config, work: work('two') }));
  const third = await open();
  t.same(await runs(), ['one', 'one', 'two'], 'another block is other work');
  await end(third, 'SIGTERM');
  const fourth = await open();
  t.same(await runs(), ['one', 'one', 'two', 'two'], 'after a stop of everything all begins anew');
  t.not(await fourth.pid(), pid);

  await end(fourth, 'SIGKILL');
  const state = JSON.parse(await readFile(stateFile, 'utf8'));
  state.completed.Work.boot_id = 'of another start of the machine';
  await writeFile(stateFile, JSON.stringify(state), { mode: 0o600 });
  const fifth = await open();
  t.same(await runs(), ['one', 'one', 'two', 'two', 'two']);
  await end(fifth, 'SIGTERM');
});

t.test('a scheduled service that was started by hand', { timeout: 200_000 }, async t => {
  const configDir = testDir(t, { done: '' });
  await chmod(configDir, 0o755);
  const done = path.join(configDir, 'done');
  await chmod(done, 0o666);
  const port = await writeConfig(configDir, {
    dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
    work: {
      enabled: true,
      oneshot: true,
      process_name: 'Work',
      schedule: '0 0 29 2 *',
      command: ['sh', '-c', `echo run >> ${done}`],
    },
  });
  const open = async () => {
    const host = await startStackwarden(configDir, port, { plugins: [...PLUGINS, 'schedules'] });
    const phase = async () =>
      ((await (await fetch(`${host.base}/process/startup-status`)).json()) as { readonly phase: string }).phase;
    await until(async () => (await phase()) === 'ready', { what: 'the boot' });
    return host;
  };
  const first = await open();
  const answer = await fetch(`${first.base}/process/start-service`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ process_name: 'Work' }),
  });
  t.equal(answer.status, 200);
  t.equal(await readFile(done, 'utf8'), 'run\n');
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await open();
  t.equal(await readFile(done, 'utf8'), 'run\n', 'it is not run once more');
  second.child.kill('SIGTERM');
  await second.exited;
});

t.test('a service that ends under the next host, without a known exit code', { timeout: 200_000 }, async t => {
  const configDir = testDir(t, {});
  await chmod(configDir, 0o755);
  const port = await writeConfig(configDir, {
    work: {
      enabled: true,
      oneshot: true,
      process_name: 'Work',
      command: ['sh', '-c', `until [ -s ${configDir}/done ]; do sleep 0.05; done`],
    },
  });
  const first = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(() => first.stdout().includes('Work runs as pid'));
  first.child.kill('SIGKILL');
  await first.exited;
  const second = await startStackwarden(configDir, port, { plugins: PLUGINS });
  await until(() => second.stdout().includes('was adopted'));
  await writeFile(path.join(configDir, 'done'), 'yes');
  await until(() => second.stdout().includes('Work stopped unexpectedly'));
  t.match(second.stdout(), /the code is unknown because [^\n]+; start it again if its work is not done\n/);
  second.child.kill('SIGTERM');
  await second.exited;
});
