// In a container, CPU, memory and disks are those of its cgroup; what its files do not tell is not known, or that of
// the machine. The files are made by the test, on a host that sees them in the place of its own.
import { rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

const isRoot = process.getuid?.() === 0;
const MIB = 1_024 * 1_024;
const IN_PLACE = 'mount --bind "$1" /sys/fs/cgroup && shift && exec "$@"';

t.test('a container has its own numbers', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t, { group: {}, config: {} });
  const group = path.join(dir, 'group');
  const write = (name: string, text: string) => writeFile(path.join(group, name), text);
  const use = (usedUs: number) => write('cpu.stat', `usage_usec ${usedUs}\nuser_usec 1\nsystem_usec 1\n`);
  await Promise.all([
    use(5_000_000),
    write('cpu.max', '150000 100000\n'),
    write('memory.current', `${800 * MIB}\n`),
    write('memory.stat', `anon 7\nfile 9\ninactive_anon 3\ninactive_file ${300 * MIB}\n`),
    write('memory.max', `${1_024 * MIB}\n`),
    write('io.stat', '8:0 rbytes=100 wbytes=2000 rios=1 wios=2 dbytes=0 dios=0\n8:16 rbytes=11 wbytes=22 rios=3\n'),
  ]);
  const config = path.join(dir, 'config');
  const port = await writeConfig(config);
  const within = ['unshare', '--mount', 'sh', '-c', IN_PLACE, 'sh', group];
  const { child, base, exited } = await startStackwarden(config, port, { plugins: ['config', 'metrics'], within });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  const sample = async (): Promise<Body> => (await fetch(`${base}/metrics`)).json();
  const after = (timestamp: number): Promise<Body> =>
    until(async () => {
      const next = await sample();
      return next.timestamp > timestamp && next;
    });

  const first = await sample();
  t.match(first.system, {
    scope: 'cgroup',
    cpu_percent: null,
    cpu_count: 1.5,
    mem: { total: 1_024 * MIB, used: 500 * MIB, percent: 48.8 },
    disk_io: { read_bytes: 111, write_bytes: 2_022, read_count: 0, write_count: 0 },
  });
  await use(5_600_000);
  const second = await after(first.timestamp);
  const percent = (0.6 / 1.5 / (second.timestamp - first.timestamp)) * 100;
  t.ok(Math.abs(second.system.cpu_percent - percent) < 1, `${second.system.cpu_percent} of ${percent}`);

  // A lower limit does not make more of the work under the previous one.
  await write('cpu.max', '50000 100000\n');
  const limited = await after(second.timestamp);
  t.match(limited.system, { cpu_percent: 0, cpu_count: 0.5 });

  // Without limits, the machine's resources count. The kernel may reclaim more memory than it reported a moment ago.
  await Promise.all([
    write('cpu.max', 'max 100000\n'),
    write('memory.max', 'max\n'),
    write('memory.current', `${200 * MIB}\n`),
    rm(path.join(group, 'io.stat')),
  ]);
  const third = await after(limited.timestamp);
  t.match(third.system, {
    scope: 'cgroup',
    cpu_percent: 0,
    cpu_count: cpus().length,
    mem: { total: totalmem(), used: 0, percent: 0 },
    disk_io: { read_bytes: null, write_bytes: null, read_count: null, write_count: null },
  });

  // The cgroup of the whole machine has no such file.
  await rm(path.join(group, 'memory.current'));
  const fourth = await after(third.timestamp);
  t.match(fourth.system, { scope: 'host', cpu_count: cpus().length, mem: { total: totalmem() } });
  t.ok(fourth.system.mem.used > 0);
});

t.test('a host that is to measure the machine', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t, { group: { 'cpu.stat': 'usage_usec 1\n', 'memory.current': '1\n' }, config: {} });
  const config = path.join(dir, 'config');
  const port = await writeConfig(config, { dumb: { metrics: { system_scope: 'host' } } });
  const within = ['unshare', '--mount', 'sh', '-c', IN_PLACE, 'sh', path.join(dir, 'group')];
  const { child, base, exited } = await startStackwarden(config, port, { plugins: ['config', 'metrics'], within });
  t.teardown(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  t.equal(((await (await fetch(`${base}/metrics`)).json()) as Body).system.scope, 'host');
});
