// The processor time of a process in a tree counts once: while it runs, after it has ended, and after its parent has
// waited for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { ProcessMeter } from '../../../plugins/metrics/process-usage.ts';
import type { ProcessSnapshot } from '../../../plugins/process/contract.ts';
import { until } from '../../support/until.ts';

/** Starts a child process that burns a core, waits for it at the first line of input, and ends at the second. */
const PARENT = 'sh -c "while :; do :; done" & read line; wait; read line';
const BURNT_MS = 1_000;

const snapshot = (processName: string, pid = 0) => ({ processName, pid, pgid: null }) as unknown as ProcessSnapshot;

t.test('the time of an ended child does not count again when its parent waits for it', async t => {
  const meter = new ProcessMeter();
  t.teardown(() => meter.close());
  const child = spawn('sh', ['-c', PARENT], { stdio: ['pipe', 'ignore', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const parent = snapshot('Parent', child.pid);
  const children = async () => (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1')).trim();
  const burner = Number(await until(children));
  let isBurning = true;
  t.teardown(() => isBurning && process.kill(burner, 'SIGKILL'));
  const look = async (...more: ProcessSnapshot[]) => (await meter.read([parent, ...more], new Set())).managed;

  await until(async () => {
    const [tree] = await look();
    const fields = (await readFile(`/proc/${burner}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? [];
    return tree?.processCount === 2 && Number(fields[11]) * 10 > BURNT_MS;
  });
  process.kill(burner, 'SIGKILL');
  isBurning = false;
  await until(async () => (await readFile(`/proc/${burner}/stat`, 'latin1')).includes(') Z '));
  const over = await until(async () => {
    const [tree] = await look();
    return tree?.cpuPercent === 0 && tree;
  });
  t.match(over, { processCount: 1, pids: [child.pid] }, 'it is none of them any more');
  const { external } = await meter.read([], new Set());
  t.notOk(external.some(({ pid }) => pid === burner));
  await look();

  child.stdin?.write('wait\n');
  await until(async () => (await children()) === '');
  let most = 0;
  // The time of this process is known as soon as that of the parent spans the moment, too.
  await until(async () => {
    const [tree, own] = await look(snapshot('Test', process.pid));
    most = Math.max(most, tree?.cpuPercent ?? 0);
    return own?.cpuPercent !== null;
  });
  t.ok(most < 10, `${most} % of a core`);
});
