// Files of processes that are kept open: each belongs to its own process, and none stays open at the end.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { Breather } from '../../../plugins/metrics/breather.ts';
import { HeldFiles } from '../../../plugins/metrics/held-files.ts';
import { procText } from '../../../plugins/metrics/proc-text.ts';
import { ProcessTable } from '../../../plugins/metrics/process-table.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

/** How many descriptors of this process are open on such a file. */
function openOn(file: string): number {
  return readdirSync('/proc/self/fd').filter(name => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === file;
    } catch {
      return false;
    }
  }).length;
}

async function sleeper(t: Test): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return { child, pid: child.pid ?? 0 };
}

t.test('a file is opened once, and closed with its process', async t => {
  const files = new HeldFiles('stat');
  t.teardown(() => files.close());
  const { child, pid } = await sleeper(t);
  const file = `/proc/${pid}/stat`;
  for (let round = 0; round < 3; round += 1) {
    t.match(files.read(pid)?.toString(), `${pid} (sleep) `);
    files.endRound();
    t.equal(openOn(file), 1);
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(files.read(pid), null);
  t.equal(openOn(file), 0);
});

t.test('threads of the kernel are no processes, and nothing of them is held open', async t => {
  const ofKernel = readdirSync('/proc').filter(name => {
    const stat = /^\d+$/.test(name) ? procText(`/proc/${name}/stat`) : null;
    return stat !== null && / [A-Z] 2 0 0 /.test(stat);
  });
  const table = new ProcessTable();
  t.teardown(() => table.close());
  for (let round = 0; round < 2; round += 1) {
    const pids = (await table.read(new Breather(), () => true)).rows.map(({ pid }) => String(pid));
    t.ok(pids.includes(String(process.pid)));
    t.same(
      pids.filter(pid => ofKernel.includes(pid)),
      [],
    );
  }
  t.same(
    ofKernel.filter(pid => openOn(`/proc/${pid}/stat`) > 0),
    [],
  );
});

t.test('files that are not read any more are closed, and all at the end', async t => {
  const files = new HeldFiles('io');
  const [first, second] = await Promise.all([sleeper(t), sleeper(t)]);
  for (const { pid } of [first, second]) t.match(files.read(pid)?.toString(), 'read_bytes: ');
  files.endRound();
  files.read(first.pid);
  files.endRound();
  t.equal(openOn(`/proc/${second.pid}/io`), 0);
  t.equal(openOn(`/proc/${first.pid}/io`), 1);
  files.close();
  t.match(files.read(first.pid)?.toString(), 'read_bytes: ', 'a look that is under way goes on');
  t.equal(openOn(`/proc/${first.pid}/io`), 0);
});

t.test('rows of idle processes stay the same, new and ended ones come and go', async t => {
  const table = new ProcessTable();
  const { child, pid } = await sleeper(t);
  const read = async () => (await table.read(new Breather(), () => true)).rows.find(row => row.pid === pid);
  // The process is announced while its program is still being loaded.
  await until(() => procText(`/proc/${pid}/stat`)?.includes('(sleep) S ') === true, { what: 'its sleep' });
  const first = await read();
  t.match(first, { pid, parentPid: process.pid, name: 'sleep', key: `${pid}:${first?.startTicks}` });
  t.same(await read(), first);
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(await read(), undefined);
  table.close();
  t.equal(openOn(`/proc/${process.pid}/stat`), 0);
});

t.test('a reused pid gives the new process', { skip: isRoot ? false : 'only root may choose pids' }, async t => {
  const module = fileURLToPath(new URL('../../../plugins/metrics/held-files.ts', import.meta.url));
  // In a pid namespace of its own, where no other process takes the pid.
  const script = `
    const { HeldFiles } = await import(${JSON.stringify(module)});
    const { spawn } = await import('node:child_process');
    const { once } = await import('node:events');
    const { writeFileSync } = await import('node:fs');
    const files = new HeldFiles('stat');
    const first = spawn('sleep', ['600']);
    await once(first, 'spawn');
    const before = files.read(first.pid).toString();
    first.kill('SIGKILL');
    await once(first, 'exit');
    let next;
    for (let tries = 0; tries < 100 && next?.pid !== first.pid; tries += 1) {
      next?.kill('SIGKILL');
      writeFileSync('/proc/sys/kernel/ns_last_pid', String(first.pid - 1));
      next = spawn('tail', ['-f', '/dev/null']);
      await once(next, 'spawn');
    }
    console.log(JSON.stringify([before, next.pid === first.pid, files.read(next.pid).toString()]));
    next.kill('SIGKILL');`;
  const preload = fileURLToPath(new URL('../../runner/preload.mjs', import.meta.url));
  const node = [process.execPath, `--import=${preload}`, '--input-type=module', '-e', script];
  const { stdout } = await run('unshare', ['--pid', '--fork', '--mount-proc', ...node], { timeout: 60_000 });
  const [before, isSame, after] = JSON.parse(stdout);
  t.match(before, ' (sleep) ');
  t.equal(isSame, true, 'the pid is that of another process');
  t.match(after, ' (tail) ');
});
