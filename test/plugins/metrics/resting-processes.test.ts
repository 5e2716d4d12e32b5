// Idle processes that are no services are read now and then; what they do afterwards still counts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { Breather } from '../../../plugins/metrics/breather.ts';
import { ProcessTable } from '../../../plugins/metrics/process-table.ts';
import { ProcessMeter } from '../../../plugins/metrics/process-usage.ts';
import type { ProcessSnapshot } from '../../../plugins/process/contract.ts';
import { until } from '../../support/until.ts';

const WITHOUT_END = 'while :; do :; done';
/** An idle process is read seconds later; some tenths of a second of work suffice to see that its time grows. */
const FOR_A_MOMENT = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; read line';

/** A process that is idle until it gets a line of input, and then burns a core. */
async function burner(t: Test, burn: string): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn('sh', ['-c', `read line; ${burn}`], { stdio: ['pipe', 'ignore', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  return { child, pid: child.pid ?? 0 };
}

t.test('a process that does nothing rests, unless it is watched', async t => {
  const table = new ProcessTable();
  t.teardown(() => table.close());
  const { child, pid } = await burner(t, FOR_A_MOMENT);
  const watched = await burner(t, FOR_A_MOMENT);
  const look = () => table.read(new Breather(), one => one === watched.pid);
  const rowOf = async (one: number) => (await look()).rows.find(row => row.pid === one);
  let hasWatchedRested = false;
  await until(async () => {
    const { rows, resting } = await look();
    hasWatchedRested ||= rows.some(row => row.pid === watched.pid && resting.has(row));
    return rows.some(row => row.pid === pid && resting.has(row));
  });
  t.notOk(hasWatchedRested);
  t.equal((await rowOf(pid))?.ownMs, (await rowOf(pid))?.ownMs, 'it is told as it was');
  const usedMs = (await rowOf(pid))?.ownMs ?? 0;
  child.stdin?.write('go\n');
  await until(async () => ((await rowOf(pid))?.ownMs ?? 0) > usedMs);
  child.kill('SIGKILL');
  watched.child.kill('SIGKILL');
  await once(child, 'exit');
  t.notOk(await rowOf(pid), 'what has ended is missing at once');
});

t.test('a process that has rested and burns a core uses one', async t => {
  const meter = new ProcessMeter();
  t.teardown(() => meter.close());
  const table = new ProcessTable();
  t.teardown(() => table.close());
  const { child, pid } = await burner(t, WITHOUT_END);
  const look = async () => {
    const { external } = await meter.read([], new Set());
    return external.find(process => process.pid === pid)?.cpuPercent ?? 0;
  };
  await until(async () => {
    await look();
    const { rows, resting } = await table.read(new Breather(), () => false);
    return rows.some(row => row.pid === pid && resting.has(row));
  });
  child.stdin?.write('go\n');
  let percent = 0;
  await until(async () => {
    percent = await look();
    return percent > 0;
  });
  t.ok(percent < 150, `${percent} %, of all the time since it was looked at before`);
});

t.test(
  'what a process writes is not asked each time while nothing else is told of it, and counts afterwards',
  async t => {
    const meter = new ProcessMeter();
    t.teardown(() => meter.close());
    const WRITE_A_LITTLE = `setInterval(() => require('node:fs').writeSync(1, '.'), 5)`;
    const child = spawn(process.execPath, ['-e', WRITE_A_LITTLE], { stdio: ['ignore', 'ignore', 'ignore'] });
    t.teardown(() => child.kill('SIGKILL'));
    await once(child, 'spawn');
    const { pid = 0 } = child;
    const snapshot = { processName: 'Writer', pid, pgid: null } as unknown as ProcessSnapshot;
    const writesNow = async () => Number(/syscw: (\d+)/.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
    const writesTold = async () => (await meter.read([snapshot], new Set())).managed[0]?.disk?.writes ?? 0;
    const before = await until(
      async () => {
        const writes = await writesNow();
        return (await writesTold()) < writes ? writes : 0;
      },
      { what: 'a look that does not ask' },
    );
    child.kill('SIGSTOP');
    t.ok(await until(async () => (await writesTold()) >= before, { what: 'all that was written' }));
    child.kill('SIGKILL');
    await once(child, 'exit');
  },
);
