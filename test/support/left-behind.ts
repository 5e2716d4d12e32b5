// What an earlier host has left behind of a service: a child that does not end when it is asked to, whose leader is
// gone, and the record of that run.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Test } from 'tap';
import { marksOf } from '../../plugins/process/supervise/run-marks.ts';
import { lives } from './kids.ts';

/** `pid` is that of the child, which ends with the test; `state` is the text of `supervisor/state.json`. */
export async function leaveBehind(t: Test, processName: string): Promise<{ pid: number; state: string }> {
  const runId = randomUUID();
  const env = { ...process.env, ...marksOf({ runId, processName, directory: '/nowhere' }) };
  const leader = spawn('sh', ['-c', 'trap "" TERM; sleep 600 & echo $!'], { detached: true, env });
  const [said] = await once(leader.stdout, 'data');
  const pid = Number(String(said));
  t.teardown(() => {
    if (lives(pid)) process.kill(pid, 'SIGKILL');
  });
  await once(leader, 'exit');
  const record = { pid: leader.pid, pgid: leader.pid, start_time: 1, boot_id: '', started_at: 1, run_id: runId };
  const recorded = { ...record, spool: '/nowhere/kid.spool', block_digest: '', config_key: '', path: [], block: {} };
  return { pid, state: JSON.stringify({ version: 1, processes: { [processName]: recorded } }) };
}
