// `/metrics`: the numbers compared with load that the test makes itself, trees of processes, and dead mounts.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost, type TestHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const PLUGINS = ['config', 'process', 'metrics'];
const MIB = 1_024 * 1_024;

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
type Body = any;

/** A service that runs a text as a Node program. */
const program = (processName: string, text: string, more = {}) => ({
  enabled: false,
  process_name: processName,
  command: [process.execPath, '-e', text],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

const GLOW = `const usedUs = () => { const { user, system } = process.cpuUsage(); return user + system }
setInterval(() => { const end = usedUs() + 5_000; while (usedUs() < end); }, 50)`;
const HOLD = `const kept = Buffer.alloc(${100 * MIB}, 1); setInterval(() => kept.length, 60_000)`;
/** Writes one megabyte after the other, and notes each once it is on the disk. */
const WRITE = `const fs = require('node:fs'); const block = Buffer.alloc(${MIB}, 1); const file = fs.openSync(process.env.FILE, 'w'); const note = fs.openSync(process.env.NOTE, 'w'); let total = 0; setInterval(() => { fs.writeSync(file, block, 0, ${MIB}, 0); fs.fsyncSync(file); total += ${MIB}; fs.writeSync(note, String(total).padEnd(16), 0) }, 50)`;
const LISTEN = `const net = require('node:net'); const server = net.createServer(() => {}).listen(0, '127.0.0.1', () => { const client = net.connect(server.address().port, '127.0.0.1'); client.on('connect', () => require('node:fs').writeFileSync(process.env.FILE, String(server.address().port))) })`;

const dir = testDir(t);
await chmod(dir, 0o777);
const noted = path.join(dir, 'written');
const port = path.join(dir, 'port');
const app = await startHost({
  plugins: PLUGINS,
  config: {
    burner: program('Burner', 'for (;;);'),
    // Burns a tenth of a core, which is enough where the amount does not matter. It counts its own processor time, so
    // that it burns as much beside other load.
    glow: program('Glow', GLOW),
    holder: program('Holder', HOLD),
    writer: program('Writer', WRITE, { env: { FILE: path.join(dir, 'file'), NOTE: noted } }),
    shell: {
      ...program('Shell', ''),
      command: ['sh', '-c', `"$NODE" -e "$TEXT"; true`],
      env: { NODE: process.execPath, TEXT: LISTEN, FILE: port },
      port: 4_321,
    },
    // Each child burns for a moment and ends, so that its time is found only with its parent. It burns much longer than
    // its start takes, which counts for the parent.
    parent: {
      ...program('Parent', ''),
      command: ['sh', '-c', 'while :; do i=0; (while [ $i -lt 10000 ]; do i=$((i+1)); done); sleep 0.05; done'],
    },
    kid: program('Kid', 'setInterval(() => {}, 60_000)'),
  },
});
t.teardown(() => app.stop());

/** Starts a service for the duration of the test. */
async function startFor(t: Test, name: string): Promise<void> {
  await start(app, name);
  t.teardown(() => app.post('/process/stop-service', { process_name: name }));
}

const metrics = async (host: TestHost): Promise<Body> => (await host.get('/metrics')).body;

async function managed(host: TestHost, name: string): Promise<Body> {
  return (await metrics(host)).dumb_managed.find((entry: Body) => entry.name === name);
}

/** Milliseconds of processor time that a process has used so far; `children` are ended ones. */
async function timesOf(pid: number): Promise<{ readonly own: number; readonly children: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? [];
  const sum = (...places: number[]) => places.reduce((ms, place) => ms + Number(fields[place]) * 10, 0);
  return { own: sum(11, 12), children: sum(13, 14) };
}

const usedMs = async (pid: number): Promise<number> => (await timesOf(pid)).own;

t.test('CPU time of a process is what the kernel counted, whatever else runs', async t => {
  await startFor(t, 'Burner');
  const { pid, cpu_percent: first, start_time: startTime } = await until(() => managed(app, 'Burner'));
  t.equal(first, null, 'nothing is known before a second reading');
  t.ok(Math.abs(Date.now() / 1_000 - startTime) < 120, 'its start in Unix seconds');
  const before = { atMs: performance.now(), usedMs: await usedMs(pid) };
  await until(async () => {
    const { cpu_percent: percent } = await managed(app, 'Burner');
    if (percent === null) return false;
    // The reading spans the time between two samples, which lies within that of the test.
    const shareOfCore = ((await usedMs(pid)) - before.usedMs) / (performance.now() - before.atMs);
    return Math.abs(percent / 100 - shareOfCore) < 0.25 && percent > 0;
  });
  const { system } = await metrics(app);
  t.ok(system.cpu_percent > 0 && system.cpu_percent <= 100);
});

t.test('a change of the clock affects only times', async t => {
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  await startFor(t, 'Glow');
  const known = await until(async () => {
    const entry = await managed(app, 'Glow');
    return entry?.cpu_percent > 0 && entry;
  });
  for (const aheadS of [-3_600, 0]) {
    Date.now = () => now() + aheadS * 1_000;
    const sample = await until(async () => {
      const found = await metrics(app);
      return Math.abs(found.timestamp - now() / 1_000 - aheadS) < 60 && found;
    });
    const { cpu_percent: percent, start_time: startTime } = sample.dumb_managed[0];
    t.ok(percent > 0 && percent <= 110, `a core at most: ${percent}`);
    t.ok(Math.abs(startTime - known.start_time - aheadS) < 1, 'its start is told by the same clock');
    t.ok(sample.system.cpu_percent >= 0 && sample.system.cpu_percent <= 100);
  }
});

t.test('memory, written bytes and descendants of a process are right', async t => {
  for (const name of ['Holder', 'Writer', 'Shell']) await startFor(t, name);

  const holder = await until(async () => {
    const entry = await managed(app, 'Holder');
    return entry?.rss > 100 * MIB && entry;
  });
  t.ok(holder.rss < 250 * MIB, 'an allocation of 100 MB reads as such');
  t.equal(holder.process_count, 1);
  t.ok(holder.threads > 1 && holder.vms > holder.rss);

  /** A sample, with what the writer had noted before and after it. */
  const reading = () =>
    until(async () => {
      const before = Number(await readFile(noted, 'utf8').catch(() => ''));
      const askedAt = Date.now() / 1_000;
      const { timestamp, dumb_managed: list, system } = await metrics(app);
      const written = list.find((entry: Body) => entry.name === 'Writer')?.disk_io?.write_bytes;
      if (timestamp <= askedAt || before === 0) return undefined;
      return { before, written, onDisks: system.disk_io.write_bytes, after: Number(await readFile(noted, 'utf8')) };
    });
  const first = await reading();
  await until(async () => Number(await readFile(noted, 'utf8')) > first.after + 10 * MIB);
  const last = await reading();
  const written = last.written - first.written;
  t.ok(written >= last.before - first.after - MIB, `what a process writes is counted: ${written}`);
  const { stdout: type } = await run('stat', ['-f', '-c', '%T', dir]);
  // Other programs write too, and writes to memory reach no disk. A block is on the disk for a moment before its note.
  if (type.trim() !== 'tmpfs' && first.onDisks !== null)
    t.ok(last.onDisks - first.onDisks >= last.before - first.after - MIB, 'the disks of the machine count it as well');
  t.ok(written <= (last.after - first.before + MIB) * 1.05, 'and no more than that, but for the notes');

  const listened = Number(await until(() => readFile(port, 'utf8').catch(() => '')));
  const shell = await until(
    async () => {
      const entry = await managed(app, 'Shell');
      return entry?.ports?.includes(listened) && entry;
    },
    { what: 'the port of a child of the shell' },
  );
  t.equal(shell.process_count, 2, 'the shell and what it runs');
  t.same(shell.ports_config, [4_321]);
  t.same(
    shell.net_connections.map((entry: Body) => [entry.status, entry.laddr[0]]),
    [
      ['ESTABLISHED', '127.0.0.1'],
      ['ESTABLISHED', '127.0.0.1'],
    ],
    'both ends of its connection with itself',
  );
  const worker = (await run('pgrep', ['-P', String(shell.pid)])).stdout.trim();
  const { external } = await metrics(app);
  t.notOk(
    external.some((entry: Body) => String(entry.pid) === worker),
    'a descendant is no stranger',
  );
  t.ok(external.length <= 20);
});

t.test('the time of ended children still counts for their parent', async t => {
  await startFor(t, 'Parent');
  const { pid } = await until(() => managed(app, 'Parent'));
  const before = { atMs: performance.now(), ...(await timesOf(pid)) };
  await until(
    async () => {
      const { cpu_percent: percent } = await managed(app, 'Parent');
      const spanMs = performance.now() - before.atMs;
      const { own, children } = await timesOf(pid);
      const [shareOfOwn, shareOfChildren] = [(own - before.own) / spanMs, (children - before.children) / spanMs];
      // The parent itself uses little, so its own time cannot be taken for that of its children.
      return spanMs > 1_000 && shareOfChildren > 4 * shareOfOwn && percent / 100 > shareOfChildren / 2;
    },
    { what: 'a percentage with the time of children' },
  );
});

t.test('numbers of the machine, its file systems and its network are right', async t => {
  const { system, timestamp } = await metrics(app);
  const { stdout } = await run('df', ['-B1', '--output=size,used,avail', '/']);
  const [size, used, available] = (stdout.split('\n')[1] ?? '').trim().split(/ +/).map(Number);
  const near = (a: number, b = 0) => Math.abs(a - b) <= 1_024 * MIB;
  t.equal(system.filesystems[0].total, size);
  t.ok(near(system.filesystems[0].used, used) && near(system.filesystems[0].free, available));
  const { inode, ...disk } = system.filesystems[0];
  t.same(system.disk, disk, 'the first is told alone too');
  t.same(system.inode, inode);
  t.equal(inode.path, '/');
  t.ok(system.mem.total > system.mem.used && system.mem.percent > 0);
  t.ok(system.boot_time < timestamp && system.container_start_time <= timestamp);
  const lo = system.network_interfaces.find((entry: Body) => entry.name === 'lo');
  t.match(lo, { available: true, is_up: true, mtu: Number });
  t.equal(
    system.net_io.sent_bytes,
    system.network_interfaces.reduce((sum: number, entry: Body) => sum + entry.sent_bytes, 0),
  );
  t.notMatch(JSON.stringify(system), /127\.0\.0\.1|::1/, 'no address');

  const { body } = await app.get('/metrics/network-interfaces');
  t.same(body.configured_interfaces, ['all']);
  t.ok(body.candidates.some((entry: Body) => entry.name === 'lo'));
  await app.post('/config', {
    updates: { dumb: { metrics: { network_interfaces: ['lo', 'gone0'], filesystem_paths: ['/proc/nowhere', '/'] } } },
  });
  const changed = await until(async () => {
    const now = (await metrics(app)).system;
    return now.network_interfaces.length === 2 && now;
  });
  t.match(changed.network_interfaces[1], { name: 'gone0', available: false, is_up: null, sent_bytes: null });
  t.match(changed.filesystems[0], { path: '/proc/nowhere', available: false, total: null, inode: { percent: null } });
  t.equal(changed.filesystems[0].stalled, undefined, 'what is missing does not hang');
  t.equal(changed.filesystems[1].available, true);
  t.same((await app.get('/metrics/filesystems')).body.configured_paths, ['/proc/nowhere', '/']);
  const bad = await app.post('/config', { updates: { dumb: { metrics: { filesystem_paths: ['data'] } } } });
  t.equal(bad.status, 400);
});

t.test('a dead mount does not delay the numbers', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const [dead, disk] = [path.join(dir, 'dead'), path.join(dir, 'a disk')];
  await Promise.all([mkdir(dead), mkdir(disk)]);
  // Any process that examines this mount waits for a server that never answers.
  const holder = execFile('bash', [
    '-c',
    `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 dead '${dead}' && exec sleep 1000`,
  ]);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]);
  await mkdir(path.join(disk, 'more'));
  await writeFile(path.join(disk, 'file'), Buffer.alloc(MIB));
  await until(async () => (await run('cat', ['/proc/self/mountinfo'])).stdout.includes(dead));
  const other = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { metrics: { filesystem_paths: [dead, disk] } },
      kid: program('Kid', 'setInterval(() => {}, 60_000)', {
        env: { DATA: disk, MORE: `${disk}/more`, DEAD: `${dead}/x`, NONE: `${dir}/none` },
      }),
    },
  });
  t.teardown(async () => {
    await other.stop();
    holder.kill('SIGKILL');
    await run('umount', ['--lazy', dead]);
    await run('umount', ['--lazy', disk]);
  });
  // On a busy machine, the first sample does not wait until the look at the dead mount is given up.
  const { filesystems, disk: primary } = await until(async () => {
    const { system } = await metrics(other);
    return system.filesystems.every((entry: Body) => entry.mount_point !== null) && system;
  });
  t.match(filesystems[0], { path: dead, available: false, stalled: true, fs_type: 'fuse.test', mount_point: dead });
  t.match(filesystems[1], { path: disk, available: true, total: 8 * MIB, fs_type: 'tmpfs', mount_point: disk });
  t.equal(primary.path, dead, 'it is not replaced by another');
  t.equal((await other.get('/process/processes')).status, 200);
  const { candidates } = (await other.get('/metrics/filesystems')).body;
  const found = (place: string) => candidates.find((entry: Body) => entry.path === place);
  t.match(found(dead), { available: false, stalled: true });
  t.match(found(disk), { available: true });
  t.equal(candidates[0].path, '/');

  await start(other, 'Kid');
  const { paths, used_total: used } = await until(async () => {
    const listed = (await managed(other, 'Kid'))?.disk_paths;
    return listed?.paths.length > 0 && listed;
  });
  const place = (name: string) => paths.find((entry: Body) => entry.path === name);
  t.match(place(disk), { exists: true, usage: { total: 8 * MIB } });
  t.match(place(`${disk}/more`), { exists: true, usage: place(disk).usage });
  const usages = paths.flatMap(({ usage }: Body) => usage ?? []);
  const distinct = new Map<number, number>(usages.map((usage: Body) => [usage.total, usage.used]));
  t.equal(
    used,
    [...distinct.values()].reduce((sum, bytes) => sum + bytes, 0),
    'each file system counts once',
  );
  t.match(place(`${dead}/x`), { exists: false, usage: null });
  t.match(place(`${dir}/none`), { exists: false, usage: null });
});

t.test('the mount of a service that was started by hand is a place of the others', async t => {
  const [mount, own] = [path.join(dir, 'mount'), path.join(dir, 'own')];
  await Promise.all([mkdir(mount), mkdir(own)]);
  const places = { mount_type: 'dfs', mount_path: mount, config_dir: own, config_file: `${own}/config.json` };
  const other = await startHost({
    plugins: [...PLUGINS, 'services'],
    config: {
      decypharr: program('Mounter', 'setInterval(() => {}, 60_000)', { ...places, log_file: `${own}/log` }),
      kid: program('Kid', 'setInterval(() => {}, 60_000)'),
    },
  });
  t.teardown(() => other.stop());
  const shown = async () => (await managed(other, 'Kid'))?.disk_paths?.paths.map((place: Body) => place.path);
  await start(other, 'Kid');
  t.notOk((await until(shown)).includes(mount), 'a service that is not in use mounts nothing');
  t.equal((await start(other, 'Mounter')).status, 200);
  await until(async () => (await shown()).includes(mount));
});

t.test('short-lived processes do not disturb the numbers', async t => {
  await startFor(t, 'Kid');
  const forks: ChildProcess = spawn('sh', ['-c', 'while :; do /bin/true; done'], { stdio: 'ignore' });
  t.teardown(() => forks.kill('SIGKILL'));
  const seen = [];
  for (let round = 0; round < 20; round += 1) seen.push(await metrics(app));
  t.ok(seen.every(({ dumb_managed: list }) => list.length === 1 && list[0].name === 'Kid'));
  forks.kill('SIGKILL');
  await once(forks, 'exit');
  await app.post('/process/restart-service', { process_name: 'Kid' });
  const { pid } = seen[0].dumb_managed[0];
  const next = await until(async () => {
    const entry = await managed(app, 'Kid');
    return entry !== undefined && entry.pid !== pid && entry;
  });
  t.equal(next.cpu_percent, null, 'a process that was started anew begins anew');
});
