// A stop reaches processes that show no mark of their run when the signal is sent, such as a child before its exec.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { ticksNow } from '../../../core/kit/boot-clock.ts';
import { bootId, readStat } from '../../../plugins/process/supervise/proc-stat.ts';
import { marksOf } from '../../../plugins/process/supervise/run-marks.ts';
import { type StopTarget, stopProcesses } from '../../../plugins/process/supervise/stop.ts';
import { until } from '../../support/until.ts';

const RUN = '3f0d7a52-5b0e-4a7e-9f43-0d1f6a0c7b21';
const GRACE_MS = 300_000;

t.test('a process that joins a run during its stop is stopped too', async t => {
  const marks = marksOf({ runId: RUN, processName: 'Overlooked', directory: '/nowhere' });
  const words = Object.entries(marks)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const begin = (script: string, env: Readonly<Record<string, string>> = {}): ChildProcess => {
    const options = { env: { PATH: process.env.PATH, ...env }, detached: true } as const;
    const child = spawn('/bin/sh', ['-c', script], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const leader = begin('exec sleep 600', marks);
  const stubborn = begin(`trap '' TERM; echo deaf; read line`, marks);
  const late = begin(`read line; exec env ${words} sleep 600`);
  await Promise.all([leader, late].map(child => once(child, 'spawn')));
  if (stubborn.stdout !== null) await once(stubborn.stdout, 'data');
  const stat = await until(() => readStat(leader.pid ?? 0));
  const lateStart = (await until(() => readStat(late.pid ?? 0))).startTime;
  await until(() => ticksNow() > lateStart);

  const target: StopTarget = {
    processName: 'Overlooked',
    leader: { pid: stat.pid, startTime: stat.startTime, bootId },
    pgid: stat.pid,
    runId: RUN,
    cgroup: '',
    spoolFile: null,
    descendants: new Map(),
  };
  const stopped = stopProcesses(target, 'SIGTERM', GRACE_MS);
  t.same((await once(leader, 'exit'))[1], 'SIGTERM');
  const ended = once(late, 'exit');
  late.stdin?.write('\n');
  t.same((await ended)[1], 'SIGTERM', 'it is signalled, not killed when the time is over');
  stubborn.stdin?.end('\n');
  await t.resolves(stopped);
});
