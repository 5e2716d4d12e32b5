// The memory about processes that services start again and again does not grow.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { timeAt } from '../../../core/kit/boot-clock.ts';
import { readStat } from '../../../plugins/process/supervise/proc-stat.ts';
import { lookAround } from '../../../plugins/process/supervise/proc-table.ts';
import { leaderOf } from '../../../plugins/process/supervise/run-leaders.ts';
import { marksOf } from '../../../plugins/process/supervise/run-marks.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const MIB = 1_024 * 1_024;
const PROCESSES = 40;
const RUN = '7d6f1c9e-2f0b-4c57-9a43-6a1f0f5f3c11';
const OTHER_RUN = '0d6f1c9e-2f0b-4c57-9a43-6a1f0f5f3c12';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Processes with an environment of a megabyte, and the marks of a run at its end. */
async function spawnSleepers(t: { teardown(end: () => void): void }, runId: string): Promise<ChildProcess[]> {
  const large = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`LARGE_${index}`, 'x'.repeat(100_000)]));
  const env = { ...large, ...marksOf({ runId, processName: 'Sleeper', directory: '/nowhere' }) };
  const children = Array.from({ length: PROCESSES }, () => spawn('/bin/sleep', ['1000'], { env, stdio: 'ignore' }));
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map(child => once(child, 'spawn')));
  return children;
}

t.test('the environments of processes are not kept', async t => {
  lookAround().ofRun(RUN, 0);
  const before = usedBytes();
  const children = await spawnSleepers(t, RUN);
  const found = await until(() => {
    const pids = lookAround()
      .ofRun(RUN, 0)
      .map(({ pid }) => pid);
    return pids.length >= PROCESSES ? pids : undefined;
  });
  t.same(new Set(found), new Set(children.map(({ pid }) => pid)));
  t.ok(usedBytes() - before < 10 * MIB, 'of forty megabytes');
});

/** A program may wait so long for the disk before it runs, and shows no environment until then. */
const LONG_SECONDS = 2;

t.test('a process belongs to a run once it executes a program with its mark', async t => {
  const marks = marksOf({ runId: OTHER_RUN, processName: 'Becomes', directory: '/nowhere' });
  const words = Object.entries(marks)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const become = `read line; exec env ${words} sleep 1000`;
  const child = spawn('/bin/sh', ['-c', become], { stdio: ['pipe', 'ignore', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const stat = readStat(child.pid ?? 0);
  t.ok(stat !== null);
  if (stat === null) return;
  await until(() => Date.now() / 1_000 - timeAt(stat.startTime) > LONG_SECONDS);
  t.same(lookAround().ofRun(OTHER_RUN, 0), []);
  child.stdin?.write('\n');
  await until(
    () =>
      lookAround()
        .ofRun(OTHER_RUN, 0)
        .some(({ pid }) => pid === child.pid),
    { what: 'the child to be of the run' },
  );
});

t.test('a process older than the leader of a run does not belong to it', async t => {
  const id = randomUUID();
  const children = await spawnSleepers(t, id);
  const stats = children.map(({ pid }) => readStat(pid ?? 0)).filter(stat => stat !== null);
  const starts = stats.map(({ startTime }) => startTime);
  await until(() => lookAround().ofRun(id, 0).length === PROCESSES);
  const table = lookAround();
  t.same(table.ofRun(id, Math.max(...starts) + 1), []);
  t.equal(table.ofRun(id, Math.min(...starts)).length, PROCESSES, 'the same look tells of an older run');
});

t.test('a descendant that leads a group is not the launched process', async t => {
  const id = randomUUID();
  const env = { ...process.env, ...marksOf({ runId: id, processName: 'Any', directory: '/' }) };
  const script = 'sleep 1000 & sleep 0.1; setsid sleep 1000 & read line';
  const child = spawn('sh', ['-c', script], { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  const members = () => lookAround().ofRun(id, 0);
  t.teardown(() => {
    for (const { pid } of members()) process.kill(pid, 'SIGKILL');
  });
  const launched = child.pid ?? 0;
  await until(() => members().filter(({ pid, pgid }) => pid === pgid).length === 2, { what: 'the second group' });
  t.equal(leaderOf(id)?.pid, launched);
  child.stdin?.end();
  await once(child, 'exit');
  t.equal(leaderOf(id), undefined, 'once that has ended, none is');
});

t.test('a name may look like the rest of the stat line', async t => {
  const dir = testDir(t, {});
  const program = path.join(dir, 'a) R 1 2 (b');
  await copyFile('/bin/sleep', program);
  const child = spawn(program, ['1000'], { stdio: 'ignore', detached: true });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const { pid = 0 } = child;
  await until(() => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('a)'));
  t.match(readStat(pid), { pid, parentPid: process.pid, pgid: pid, state: /^[RSD]$/, image: /^\d+( \d+){3}$/ });
});

t.test('an id that is none of ours belongs to no run', async t => {
  const long = 'x'.repeat(10_000);
  await spawnSleepers(t, long);
  t.same(lookAround().ofRun(long, 0), []);
});
