// `status`, `start`, `stop` and `restart` of the command line, against one running host.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { runCommand } from '../../support/command.ts';
import { startHost } from '../../support/host.ts';
import { COMMAND, spawnStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const SLEEP = { command: ['sleep', '600'], config_dir: '/', stop_grace_seconds: 1 };
const HEADER = /^NAME +STATUS +HEALTH +PID +UPTIME +CPU +MEMORY +RESTARTS\n/;

const app = await startHost({
  plugins: [
    'config',
    'process',
    'auto-restart',
    'health-probe',
    'metrics',
    'dependency-graph',
    'signal-wait-for-dir',
    'groups',
  ],
  config: {
    web: { enabled: true, process_name: 'Store', ...SLEEP },
    shop: { enabled: true, process_name: 'Shop Front', ...SLEEP, wait_for_dir: [{ path: '/', process_name: 'Store' }] },
    odd: { enabled: false, process_name: 'Odd * Näme', ...SLEEP, groups: ['odd'] },
    wide: { enabled: false, process_name: '映画 \u200b👍🏽', ...SLEEP },
    task: { enabled: false, process_name: 'Task', command: ['true'], config_dir: '/', oneshot: true },
    broken: { enabled: false, process_name: 'Broken', command: ['false'], config_dir: '/' },
    absent: { enabled: false, process_name: 'Absent', command: ['/nonexistent/program'], config_dir: '/' },
  },
});
t.teardown(() => app.stop());
const command = (...args: string[]) => runCommand(app, ...args);
const rows = async (...args: string[]) => JSON.parse((await command('status', '--json', ...args)).stdout);
await until(async () => (await app.get('/process/startup-status')).body.terminal, { timeoutMs: 60_000 });

t.test('status lists what is in use, for people and for programs', async t => {
  const table = await command('status');
  t.match(table, { code: 0, stderr: '' });
  t.match(table.stdout, HEADER);
  t.match(table.stdout, /^Store +running +healthy +\d+ +(\d+m )?\d+s +(-|\d+\.\d%) +[\d.]+ [KM]iB +0$/m);
  t.notMatch(table.stdout, 'Task');
  t.notMatch(table.stdout, '\u001b', 'no colour without a terminal');
  const [store] = await rows('store');
  t.same(Object.keys(store), [
    'name',
    'enabled',
    'status',
    'health',
    'health_reason',
    'pid',
    'uptime_seconds',
    'cpu_percent',
    'memory_bytes',
    'restarts',
  ]);
  t.match(store, { name: 'Store', enabled: true, status: 'running', health: 'healthy', restarts: 0 });
  t.ok(store.pid > 1 && store.uptime_seconds >= 0 && store.memory_bytes > 0);
  const all = (await rows('--all')).map(({ name }: { name: string }) => name);
  t.same(
    all,
    ['Store', 'Shop Front', 'Odd * Näme', '映画 \u200b👍🏽', 'Task', 'Broken', 'Absent'],
    'without the host itself',
  );
  const { stdout } = await command('status', '--all');
  t.match(stdout, /^Odd \* Näme {2}stopped/m);
  t.match(stdout, /^映画 \u200b👍🏽 {5}stopped/m, 'seven columns of ten');
});

t.test('services are given by names and patterns', async t => {
  const names = async (...args: string[]) => (await rows(...args)).map(({ name }: { name: string }) => name);
  t.same(await names('s*'), ['Store', 'Shop Front']);
  t.same(await names('*o*r*'), ['Store', 'Shop Front']);
  t.same(await names('Odd * Näme', 'task'), ['Odd * Näme', 'Task']);
  t.same(await names('--all', 'o*', 't*'), ['Odd * Näme', 'Task']);
  const unused = await command('start', 'T*');
  t.match(unused, {
    code: 1,
    stderr: "stackwarden: no service fits 'T*'; 'Task' is not in use: give its whole name\n",
  });
  const unknown = await command('status', 'Shop Frint');
  t.match(unknown, { code: 1, stdout: '', stderr: /^stackwarden: no service fits.*did you mean 'Shop Front'\?\n$/ });
});

t.test('`--all` starts services in the order of their needs, and stops them in reverse', async t => {
  const told = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map(line => line.slice(0, line.indexOf(':')));
  const stopped = await command('stop', '--all');
  t.equal(stopped.code, 0, stopped.stderr);
  t.ok(told(stopped.stdout).indexOf('Shop Front') < told(stopped.stdout).indexOf('Store'), stopped.stdout);
  t.match(await command('stop', '--all'), { code: 0, stdout: '', stderr: 'there is nothing to stop\n' });
  const started = await command('start', '--all');
  t.same(told(started.stdout), ['Store', 'Shop Front'], started.stderr);
});

t.test('start, restart and stop report each service', async t => {
  t.match(await command('start', 'Odd * Näme', '--wait'), {
    code: 0,
    stdout: 'Odd * Näme: Service started successfully\n',
  });
  t.match(await rows('odd*'), [{ status: 'running' }]);
  const [{ pid }] = await rows('odd*');
  t.match(await command('restart', 'Odd*'), { code: 0, stdout: /restarted/ });
  t.not((await rows('odd*'))[0].pid, pid);
  t.match(await command('stop', 'Odd*', '-w'), { code: 0, stdout: /stopped/ });
  t.match(await rows('odd*', '--all'), [{ status: 'stopped', pid: null, uptime_seconds: null, cpu_percent: null }]);
  t.match(await command('start', 'Task', '--wait'), { code: 0 });
});

t.test('a group stands for its services', async t => {
  t.match(await command('start', '--group', 'odd'), { code: 0, stdout: /^Odd \* Näme: / });
  t.match(await command('stop', '-g', 'odd'), { code: 0, stdout: /stopped/ });
  t.match(await command('stop', '-g', 'even'), { code: 1, stderr: /no group 'even'; there are odd\n$/ });
  t.match(await command('stop', 'Store', '-g', 'odd'), { code: 2 });
});

t.test('a service that fails does not prevent others', async t => {
  const result = await command('start', 'Broken', 'Odd*');
  t.match(result, { code: 1, stdout: /^Odd \* Näme: .*started/, stderr: /^Broken: .*code 1/ });
  const absent = await command('start', 'Absent');
  t.match(absent, { code: 1, stdout: '', stderr: /^Absent: (?!.*Absent).*nonexistent/ }, 'with its name said once');
});

t.test('unknown names, and a host that does not answer, are errors', async t => {
  for (const args of [['stop'], ['restart', '--all', 'Store'], ['start', '--wait'], ['status', '--timeout', '1']])
    t.match(await command(...args), { code: 2, stdout: '' }, args.join(' '));
  t.match(await command('start', 'Store', '--example'), { code: 2, stderr: /'--example' is for the host/ });
  t.match(await command('stop', 'Store', '--wait', '--timeout', 'x'), {
    code: 2,
    stderr: /'--timeout' is a whole number/,
  });
  const nobody = await runCommand({ ...app, base: 'http://127.0.0.1:1' }, 'status');
  t.match(nobody, {
    code: 3,
    stderr: 'stackwarden: nothing answers at http://127.0.0.1:1; start Stackwarden, or name one that runs by --url\n',
  });
});

t.test('a terminal gets colours, unless NO_COLOR forbids them', async t => {
  const words = [process.execPath, ...COMMAND, '--url', app.base, 'status', 'Store'].map(word => `'${word}'`).join(' ');
  for (const [more, expected] of [
    [{}, /^Store +\u001b\[32mrunning\u001b\[0m/m],
    [{ NO_COLOR: '1' }, /^Store +running +healthy/m],
  ] as const) {
    const { NO_COLOR: _unset, ...env } = process.env;
    const { stdout } = await run('script', ['-qec', words, '/dev/null'], {
      env: { ...env, NODE_OPTIONS: '', TERM: 'xterm', ...more },
    });
    t.match(stdout, expected);
  }
});

t.test('`--watch` shows a death, and ends when nobody reads', async t => {
  const watch = spawnStackwarden(app.configDir, {
    args: ['status', '--watch', 'Store'],
    env: { STACKWARDEN_URL: app.base },
  });
  await until(async () => /^Store +running/m.test(watch.stdout()));
  t.match(await command('stop', 'Store'), { code: 0 });
  await until(async () => /^Store +stopped/m.test(watch.stdout()));
  watch.child.stdout?.destroy();
  t.match(await watch.exited, { code: 0 });
});
