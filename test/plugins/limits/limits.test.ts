// What services may use of the machine: priority, open files, memory and processors, how these limits are reported, and
// restarts for memory.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readMounts } from '../../../core/kit/mountinfo.ts';
import { cgroupOf, processesOf } from '../../../plugins/limits/process-tree.ts';
import { enterCgroup } from '../../../plugins/process/supervise/cgroup.ts';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { pidOf, start, status } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const MIB = 2 ** 20;
const PLUGINS = ['config', 'process', 'limits', 'auto-restart'];
const rootDir = path.join(import.meta.dirname, '../../..');
const ENFORCE = `const { enforce } = await import(${JSON.stringify(path.join(rootDir, 'plugins/limits/enforcement.ts'))});
  console.log(JSON.stringify(await enforce(Number(process.argv[1]), { limits: { memory: '64M', cpu: 0.5 } })));`;
const block = (processName: string, script: string, more: object) => ({
  enabled: false,
  process_name: processName,
  command: ['sh', '-c', script],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

t.test('limits act on running services, and are reported', async t => {
  const base = testDir(t, { config: {}, open: {} });
  const configDir = path.join(base, 'config');
  const dir = path.join(base, 'open');
  await chmod(dir, 0o777);
  const wait = `until [ -e ${dir}/go ]; do sleep 0.05; done`;
  const app = await startHost({
    configDir,
    plugins: PLUGINS,
    config: {
      dumb: { startup: { stabilization_seconds: 0, readiness_poll_interval_seconds: 0.1 } },
      bound: block(
        'Bound',
        `sleep 600 & ${wait}; head -c 100M /dev/zero | tail -c 90M > ${dir}/out; echo $? > ${dir}/code; sleep 600`,
        {
          nice: 7,
          limits: { memory: '64M', cpu: 0.5, open_files: 99 },
        },
      ),
      greedy: block('Greedy', `${wait}; head -c 90M /dev/zero | tail -c 80M | sleep 600`, {
        memory_restart: '60M',
        restart: { policy: 'no', backoff_seconds: [0] },
      }),
      odd: block('Odd', 'sleep 600', { limits: { memory: 'much' } }),
    },
  });
  await until(async () => (await app.get('/process/startup-status')).body.terminal);
  for (const name of ['Bound', 'Greedy']) t.match(await start(app, name), { status: 200 });
  const pid = await pidOf(app, 'Bound');
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').map(Number);
  const entry = async (host: typeof app) =>
    (await host.get('/process/processes')).body.processes.find(
      ({ process_name: name }: { process_name: string }) => name === 'Bound',
    );
  const { limited_by: by } = await entry(app);
  t.match(by, { open_files: 'prlimit', memory: /^(cgroup|prlimit)$/, cpu: /^(cgroup|none)$/ });
  for (const one of [pid, child ?? 0]) {
    t.equal(getPriority(one), 7);
    const limits = await readFile(`/proc/${one}/limits`, 'utf8');
    t.match(limits, /Max open files\s+99\s+99/);
    if (by.memory === 'prlimit') t.match(limits, new RegExp(`Max data size\\s+${64 * MIB}\\s`));
  }
  const cgroup = await cgroupOf(pid);
  if (by.memory === 'cgroup') t.equal(Number(await readFile(`${cgroup}/memory.max`, 'utf8')), 64 * MIB);
  if (by.cpu === 'cgroup') t.equal(await readFile(`${cgroup}/cpu.max`, 'utf8'), '50000 100000\n');
  else t.ok((await ownLog(app)).some(line => line.includes('Bound: its processors are not limited')));
  t.ok((await ownLog(app)).some(line => line.includes(`Bound is limited: memory by ${by.memory}`)));
  t.match((await app.get('/process?process_name=Odd')).body.config_problem, /512M/);

  const greedy = await pidOf(app, 'Greedy');
  await writeFile(path.join(dir, 'go'), '');
  const code = await until(() => readFile(path.join(dir, 'code'), 'utf8'), { what: 'the end of what takes too much' });
  t.not(code, '0\n');
  await until(async () => (await pidOf(app, 'Greedy')) !== greedy, { what: 'the restart' });
  t.ok((await status(app, 'Greedy')).restart.restart_attempts >= 1);
  t.ok((await ownLog(app)).some(line => /Greedy is restarted, attempt 1 of 3: it takes \d+ MiB/.test(line)));

  await app.host.stop('fault');
  const next = await startHost({ configDir, plugins: PLUGINS });
  t.teardown(() => next.stop());
  await until(async () => (await entry(next)).limited_by?.open_files === 'prlimit', { what: 'what adoption tells' });
  t.equal(await pidOf(next, 'Bound'), pid);
});

t.test('processes that a thread other than the first has forked are found', async t => {
  const fork = "const { pid } = require('child_process').spawn('sleep', ['600']); console.log(pid)";
  const parent = spawn(process.execPath, [
    '-e',
    `new (require('worker_threads').Worker)(${JSON.stringify(fork)}, { eval: true })`,
  ]);
  let output = '';
  parent.stdout.on('data', text => {
    output += text;
  });
  const child = await until(() => Number(/\d+\n/.exec(output)?.[0]) || undefined, { what: 'the child' });
  t.teardown(async () => {
    parent.kill();
    process.kill(child);
    if (parent.exitCode === null && parent.signalCode === null) await once(parent, 'exit');
  });
  t.same(await processesOf(Number(parent.pid)), [parent.pid, child]);
});

const mount = (await readMounts()).find(({ type }) => type === 'cgroup2');
const above = path.join(mount?.directory ?? '/nowhere', `stackwarden-test-${process.pid}`);
const own = path.join(above, 'stackwarden-host');
const isMade = await mkdir(own, { recursive: true }).then(
  () => true,
  () => false,
);
const skip = !isMade && 'no cgroup of version 2 may be written';

/** Another host that starts meanwhile, as in another test, also removes empty cgroups. */
const removed = (cgroup: string): Promise<boolean> =>
  rmdir(cgroup).then(
    () => true,
    error => error.code === 'ENOENT' || Promise.reject(error),
  );

t.test('a priority of -0 is one of 0', async t => {
  const app = await startHost({ plugins: PLUGINS, config: { calm: block('Calm', 'sleep 600', {}) } });
  t.teardown(() => app.stop());
  const body = '{"process_name": "Calm", "updates": {"nice": -0}}';
  const headers = { 'content-type': 'application/json' };
  t.equal((await app.request('POST', '/config', { body, headers })).status, 200);
  t.match(await start(app, 'Calm'), { status: 200 });
  t.equal(getPriority(await pidOf(app, 'Calm')), 0);
});

t.test('cgroups of runs lie beside that of a host that has its own', { skip }, async t => {
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, { bound: block('Bound', 'sleep 600', { enabled: true }) });
  const within = ['sh', '-c', `echo $$ > ${own}/cgroup.procs && exec "$@"`, 'sh'];
  const host = await startStackwarden(configDir, port, { within, plugins: PLUGINS });
  const state = () => readFile(path.join(configDir, 'supervisor', 'state.json'), 'utf8');
  const pid = await until(async () => JSON.parse(await state()).processes.Bound?.pid, { what: 'the launch' });
  const found = await until(() => cgroupOf(pid), { what: 'the move into a cgroup' });
  t.equal(path.dirname(found), above);
  host.child.kill('SIGTERM');
  await host.exited;
  // A cgroup that was still busy is left to the next host, which this test does not have.
  const remove = async () => {
    for (const name of await readdir(above, { withFileTypes: true }).catch(() => []))
      if (name.isDirectory()) await removed(path.join(above, name.name));
    return removed(above);
  };
  await until(remove, { what: 'its end' });
});

// A directory stands in for the cgroup, since machines do not give their controllers away: it shows what is written
// where, and what is reported then.
t.test('limits are written to the cgroup of the run, and enabled in its parents', { skip }, async t => {
  const run = path.join(mount?.directory ?? '', `stackwarden-${process.pid}`);
  await mkdir(run);
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.teardown(async () => {
    child.kill('SIGKILL');
    await until(() => removed(run), { what: 'its end' });
  });
  await enterCgroup(run, child.pid ?? 0);
  const enforced = async (files: readonly string[]) => {
    const made = files.map(file => `: > ${run}/${file}`);
    const hide = `mount -t tmpfs none ${mount?.directory} && mkdir ${run} && : > ${mount?.directory}/cgroup.subtree_control`;
    const tell = `cd ${mount?.directory} && grep -r . .`;
    const words = ['--mount', 'sh', '-c', [hide, ...made, '"$@"', tell].join(' && '), 'sh'];
    const node = [process.execPath, ...process.execArgv, '--input-type=module', '--eval', ENFORCE, String(child.pid)];
    return (await promisify(execFile)('unshare', [...words, ...node], { cwd: rootDir })).stdout;
  };
  const whole = await enforced(['memory.max', 'cpu.max']);
  t.match(whole, /^\{"means":\{"memory":"cgroup","cpu":"cgroup"\},"faults":\[\]\}$/m);
  t.match(whole, new RegExp(`^\\./stackwarden-${process.pid}/memory\\.max:${64 * MIB}$`, 'm'));
  t.match(whole, new RegExp(`^\\./stackwarden-${process.pid}/cpu\\.max:50000 100000$`, 'm'));
  t.notMatch(whole, 'subtree_control', 'what is there needs not be asked for');
  const without = await enforced([]);
  t.match(without, /"memory":"prlimit","cpu":"none".*its processors are not limited/);
  t.match(without, /^\.\/cgroup\.subtree_control:\+cpu/m);
});
