// How texts of the kernel are parsed: rows of processes, addresses of sockets, counters of disks and networks.
import fc from 'fast-check';
import t from 'tap';
import { configuredPorts, placesOf } from '../../../plugins/metrics/block-facts.ts';
import { Breather } from '../../../plugins/metrics/breather.ts';
import { CpuMeter } from '../../../plugins/metrics/cpu-meter.ts';
import { busyMs, cpuLimit, diskCounters } from '../../../plugins/metrics/machine.ts';
import { countersOf } from '../../../plugins/metrics/network.ts';
import { type ProcessRow, ProcessTable, rowOf, treesOf } from '../../../plugins/metrics/process-table.ts';
import { containerIn } from '../../../plugins/metrics/process-usage.ts';
import { readSettings } from '../../../plugins/metrics/settings.ts';
import { addressOf } from '../../../plugins/metrics/sockets.ts';

const stat = (name: string, state = 'S') =>
  Buffer.from(`42 (${name}) ${state} 7 40 40 0 -1 0 0 0 0 0 150 50 30 20 20 0 3 0 9000 1048576 10 0 0 0`);

t.test('the row of a process is parsed, whatever its name', async t => {
  t.match(rowOf(42, stat('server')), {
    pid: 42,
    parentPid: 7,
    pgid: 40,
    name: 'server',
    startTicks: 9_000,
    ownMs: 2_000,
    childrenMs: 500,
    threads: 3,
    virtualBytes: 1_048_576,
  });
  for (const name of ['a) S 1 1 1', ') (', 'two words', 'line\nbreak', ''])
    t.match(rowOf(42, stat(name)), { parentPid: 7 }, `a name such as ${JSON.stringify(name)} does not move the fields`);
  t.match(rowOf(42, stat('dämon')), { name: 'dämon' });
  t.match(rowOf(42, stat('server')), { isZombie: false });
  t.match(rowOf(42, stat('over', 'Z')), { isZombie: true, ownMs: 2_000 }, 'its time is not that of its parent yet');
  t.equal(rowOf(42, stat('gone', 'X')), 'gone');
  const table = new ProcessTable();
  t.teardown(() => table.close());
  const own = (await table.read(new Breather(), () => true)).rows.find(({ pid }) => pid === process.pid);
  const ratio = (own?.rssBytes ?? 0) / process.memoryUsage.rss();
  t.ok(ratio > 0.5 && ratio < 2, 'the size of a page is that of this machine');
});

t.test('a kernel thread is known by its flag', async t => {
  const kernelOrRow = (pid: number, parentPid: number, flags: number) =>
    rowOf(pid, Buffer.from(`${pid} (x) S ${parentPid} 0 0 0 -1 ${flags} 0 0 0 0 1 1 0 0 20 0 1 0 5 4096 1 0 0 0`));
  t.equal(kernelOrRow(2, 0, 0x20_80_40), 'kernel');
  t.equal(kernelOrRow(9, 2, 0x4_20_80_60), 'kernel');
  t.match(kernelOrRow(2, 1, 0x40_01_00), { pid: 2, parentPid: 1 }, 'a program that an init of a container started');
  t.match(kernelOrRow(9, 2, 0x40_00_00), { pid: 9, parentPid: 2 }, 'and what this program started');
});

t.test('processes form trees by parent and group', async t => {
  const row = (pid: number, parentPid: number, pgid = pid): ProcessRow => ({
    ...(rowOf(pid, stat('x')) as ProcessRow),
    pid,
    parentPid,
    pgid,
  });
  const rows = [row(1, 0), row(10, 1), row(11, 10), row(12, 11), row(20, 11), row(21, 20), row(30, 1, 10), row(40, 1)];
  const trees = treesOf(
    rows,
    new Map([
      [10, { pgid: 10 }],
      [20, { pgid: 20 }],
    ]),
  );
  const pids = (root: number) => trees.get(root)?.map(({ pid }) => pid);
  t.same(pids(10), [10, 11, 12, 30], 'descendants, and one of the group whose parent has ended');
  t.same(pids(20), [20, 21], 'a process belongs to the nearest root above it');
  t.doesNotThrow(() => treesOf([row(5, 6), row(6, 5)], new Map([[7, { pgid: null }]])), 'parents in a circle end');
});

t.test('a law of trees: every process belongs to one root at most, and roots to themselves', async () => {
  const table = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 30 })), { maxLength: 30 });
  fc.assert(
    fc.property(table, fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 5 }), (pairs, roots) => {
      const rows = [...new Map(pairs)].map(([pid, parentPid]) => ({
        ...(rowOf(pid, stat('x')) as ProcessRow),
        pid,
        parentPid,
        pgid: pid,
      }));
      const trees = treesOf(rows, new Map(roots.map(pid => [pid, { pgid: pid }])));
      const members = [...trees].flatMap(([root, own]) => own.map(({ pid }) => [pid, root] as const));
      if (new Set(members.map(([pid]) => pid)).size !== members.length) return false;
      return rows.every(
        ({ pid }) => !roots.includes(pid) || members.some(([own, root]) => own === pid && root === pid),
      );
    }),
  );
});

t.test('the container of a process is found by its cgroup', async t => {
  const cgroups: Readonly<Record<string, string | null>> = {
    '12:cpu:/docker/0123abc': '0123abc',
    '0::/docker/0123abc': '0123abc',
    '0::/system.slice/docker-0123abc.scope': 'docker-0123abc.scope',
    '0::/kubepods.slice/kubepods-pod7.slice/cri-containerd-0123abc.scope': 'cri-containerd-0123abc.scope',
    '0::/machine.slice/libpod-0123abc.scope/container': 'libpod-0123abc.scope',
    '0::/system.slice/docker.service': null,
    '0::/system.slice/containerd.service': null,
    '0::/user.slice/user-1000.slice/session-1.scope': null,
    '': null,
  };
  for (const [line, id] of Object.entries(cgroups)) t.equal(containerIn(`1:name=systemd:/\n${line}\n`), id, line);
});

t.test('addresses of sockets are parsed', async t => {
  t.same(addressOf('0100007F:1F90'), ['127.0.0.1', 8_080]);
  t.same(addressOf('00000000000000000000000001000000:0050'), ['::1', 80]);
  t.same(addressOf('B80D0120000000000000000001000000:01BB'), ['2001:db8::1', 443]);
  t.same(addressOf('0000000000000000FFFF00000100007F:01BB'), ['127.0.0.1', 443], 'one of IPv4 in the form of IPv6');
});

t.test('counters of disks and networks are parsed', async t => {
  const diskstats = '   8       0 sda 5 0 40 1 6 0 48 2 0 0 0\n   8       1 sda1 5 0 40 1 6 0 48 2 0 0 0\n';
  t.same(diskCounters(diskstats, new Set(['sda'])), { readBytes: 20_480, writtenBytes: 24_576, reads: 5, writes: 6 });
  const dev =
    'Inter-|   Receive\n face |bytes\n  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n eth0:1: 9 0 0 0 0 0 0 0 9 0 0 0\n';
  t.match(countersOf(dev).get('eth0'), {
    receivedBytes: 1,
    receivedPackets: 2,
    receiveErrors: 3,
    receiveDrops: 4,
    sentBytes: 5,
    sentPackets: 6,
    sendErrors: 7,
    sendDrops: 8,
  });
  t.ok(countersOf(dev).has('eth0:1'), 'a name may hold a colon');
  t.equal(busyMs('cpu  100 20 30 900 50 5 5 40 10 0\ncpu0 1\n'), 2_000, 'neither idle nor waiting, guests once');
  t.equal(busyMs(''), null);
  t.equal(cpuLimit('150000 100000\n'), 1.5);
  t.equal(cpuLimit('max 100000\n'), undefined);
  t.equal(cpuLimit('100 100000\n'), 0.1, 'no fewer than a tenth of a core');
  t.equal(cpuLimit(null), undefined);
});

t.test('percentages of processor time follow from two readings', async t => {
  const meter = new CpuMeter();
  const at = (nowMs: number, value: number) => {
    const percent = meter.percent('a', value, nowMs);
    meter.endRound();
    return percent;
  };
  t.equal(at(0, 1_000), null, 'nothing is known at first');
  t.equal(at(100, 1_100), null, 'nor too soon');
  t.equal(at(1_000, 1_500), 50);
  t.equal(at(1_100, 1_600), 50, 'a reader milliseconds later gets the same, and takes nothing away');
  t.equal(at(2_000, 2_500), 100);
  t.equal(at(3_000, 2_000), 0, 'a counter that went back');
  t.equal(at(4_000, 2_250), 25, 'and what follows counts from there');
  meter.endRound();
  t.equal(at(9_000, 9_000), null, 'what was not read in a round is forgotten');
});

t.test('settings are clamped', async t => {
  t.same(readSettings(undefined), { scope: 'auto', paths: ['/'], interfaces: null });
  t.same(readSettings({ system_scope: 'container', filesystem_paths: [' /data/ ', '/data', 'no', 7, '/b\nc'] }).paths, [
    '/data',
  ]);
  t.equal(readSettings({ system_scope: 'container' }).scope, 'cgroup', 'an earlier name');
  t.same(readSettings({ network_interfaces: ['eth0', 'ALL'] }).interfaces, null);
  t.same(readSettings({ network_interfaces: ['eth1', 'eth0'] }).interfaces, ['eth1', 'eth0']);
  t.equal(readSettings({ filesystem_paths: Array.from({ length: 99 }, (_, index) => `/${index}`) }).paths.length, 32);
});

t.test('ports and paths are read from a block', async t => {
  const block = {
    port: 8_080,
    webdav_port: '9090',
    frontend_port: 'none',
    config_dir: '/srv/app/',
    config_file: '/srv/app/config/app.ini',
    log_file: 'relative.log',
    env: { PORT: '8080', BACKEND_PORT: 70_000, DATA: '/data', CACHE: '/{name}', TEXT: 'x' },
  };
  t.same(configuredPorts(block), [8_080, 9_090]);
  t.same(placesOf(block, ['/mnt/a', '/data']), ['/srv/app', '/srv/app/config', '/data', '/mnt/a']);
  t.equal(
    placesOf(
      {},
      Array.from({ length: 40 }, (_, index) => `/p${index}`),
    ).length,
    16,
  );
});
