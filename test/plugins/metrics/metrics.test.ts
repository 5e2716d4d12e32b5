// `/metrics`: the numbers against load that the test makes itself, trees of processes, and paths that do not answer.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
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

/** A service that runs a text as a program of Node. */
const program = (processName: string, text: string, more = {}) => ({
  enabled: false,
  process_name: processName,
  command: [process.execPath, '-e', text],
  suppress_logging: true,
  stop_grace_seconds: 1,
  ...more,
});

async function startWith(t: Test, config: Record<string, unknown>): Promise<TestHost> {
  const app = await startHost({ plugins: PLUGINS, config });
  t.teardown(() => app.stop());
  return app;
}

const metrics = async (app: TestHost): Promise<Body> => (await app.get('/metrics')).body;

async function managed(app: TestHost, name: string): Promise<Body> {
  return (await metrics(app)).dumb_managed.find((entry: Body) => entry.name === name);
}

/** Milliseconds of CPU time that a process has used so far. */
async function usedMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

t.test('CPU time of a process is what the kernel counted, whatever else runs', async t => {
  const app = await startWith(t, { burner: program('Burner', 'for (;;);') });
  await start(app, 'Burner');
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

t.test('memory, files and descendants', async t => {
  const dir = testDir(t);
  const hold = `const kept = Buffer.alloc(${100 * MIB}, 1); setInterval(() => kept.length, 60_000)`;
  const write = `const fs = require('node:fs'); const file = fs.openSync(process.env.FILE, 'w'); fs.writeSync(file, Buffer.alloc(${20 * MIB}, 1)); fs.fsyncSync(file); setInterval(() => {}, 60_000)`;
  const listen = `const net = require('node:net'); const server = net.createServer(() => {}).listen(0, '127.0.0.1', () => { const client = net.connect(server.address().port, '127.0.0.1'); client.on('connect', () => require('node:fs').writeFileSync(process.env.FILE, String(server.address().port))) })`;
  const file = path.join(dir, 'written');
  const noted = path.join(dir, 'port');
  await run('chmod', ['777', dir]);
  const app = await startWith(t, {
    holder: program('Holder', hold),
    writer: program('Writer', write, { env: { FILE: file } }),
    shell: {
      ...program('Shell', ''),
      command: ['sh', '-c', `"$NODE" -e "$TEXT"; true`],
      env: { NODE: process.execPath, TEXT: listen, FILE: noted },
      port: 4_321,
    },
  });
  for (const name of ['Holder', 'Writer', 'Shell']) await start(app, name);

  const holder = await until(async () => {
    const entry = await managed(app, 'Holder');
    return entry?.rss > 100 * MIB && entry;
  });
  t.ok(holder.rss < 250 * MIB, 'an allocation of 100 MB reads as such');
  t.equal(holder.process_count, 1);
  t.ok(holder.threads > 1 && holder.vms > holder.rss);

  const [file1] = [await until(async () => ((await managed(app, 'Writer'))?.disk_io?.write_bytes ?? 0) >= 20 * MIB)];
  t.ok(file1, 'what a process wrote');
  t.ok((await managed(app, 'Writer')).disk_io.write_bytes < 60 * MIB);

  const port = Number(await until(() => readFile(noted, 'utf8').catch(() => '')));
  const shell = await until(
    async () => {
      const entry = await managed(app, 'Shell');
      return entry?.ports?.includes(port) && entry;
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

t.test('what a process used goes on counting when its children have ended', async t => {
  const dir = testDir(t);
  await run('chmod', ['777', dir]);
  const app = await startWith(t, {
    // Each child burns for a moment and ends: their time is found with the parent alone.
    parent: {
      ...program('Parent', ''),
      command: ['sh', '-c', 'while :; do i=0; (while [ $i -lt 3000 ]; do i=$((i+1)); done); done'],
    },
  });
  await start(app, 'Parent');
  const percent = await until(async () => (await managed(app, 'Parent'))?.cpu_percent, { what: 'a percentage' });
  t.ok(percent > 0);
});

t.test('the machine, its file systems and its network', async t => {
  const app = await startWith(t, {});
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

t.test('a mount that does not answer', { skip: isRoot ? false : 'only root may mount' }, async t => {
  const dir = testDir(t);
  const [dead, disk] = [path.join(dir, 'dead'), path.join(dir, 'a disk')];
  await Promise.all([mkdir(dead), mkdir(disk)]);
  // Whoever looks at this one waits for a server that never answers.
  const holder = execFile('bash', [
    '-c',
    `exec 5<>/dev/fuse; mount -i -t fuse.test -o fd=5,rootmode=40000,user_id=0,group_id=0 dead '${dead}' && exec sleep 1000`,
  ]);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]);
  await mkdir(path.join(disk, 'more'));
  await writeFile(path.join(disk, 'file'), Buffer.alloc(MIB));
  await until(async () => (await run('cat', ['/proc/self/mountinfo'])).stdout.includes(dead));
  const app = await startHost({
    plugins: PLUGINS,
    config: {
      dumb: { metrics: { filesystem_paths: [dead, disk] } },
      kid: program('Kid', 'setInterval(() => {}, 60_000)', {
        env: { DATA: disk, MORE: `${disk}/more`, DEAD: `${dead}/x`, NONE: `${dir}/none` },
      }),
    },
  });
  t.teardown(async () => {
    await app.stop();
    holder.kill('SIGKILL');
    await run('umount', ['--lazy', dead]);
    await run('umount', ['--lazy', disk]);
  });
  const { filesystems, disk: primary } = (await metrics(app)).system;
  t.match(filesystems[0], { path: dead, available: false, stalled: true, fs_type: 'fuse.test', mount_point: dead });
  t.match(filesystems[1], { path: disk, available: true, total: 8 * MIB, fs_type: 'tmpfs', mount_point: disk });
  t.equal(primary.path, dead, 'it is not replaced by another');
  t.equal((await app.get('/process/processes')).status, 200);
  const { candidates } = (await app.get('/metrics/filesystems')).body;
  const found = (place: string) => candidates.find((entry: Body) => entry.path === place);
  t.match(found(dead), { available: false, stalled: true });
  t.match(found(disk), { available: true });
  t.equal(candidates[0].path, '/');

  await start(app, 'Kid');
  const { paths, used_total: used } = await until(async () => {
    const listed = (await managed(app, 'Kid'))?.disk_paths;
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

t.test('processes that come and go', async t => {
  const app = await startWith(t, { kid: program('Kid', 'setInterval(() => {}, 60_000)') });
  await start(app, 'Kid');
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
