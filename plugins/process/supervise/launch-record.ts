// The record of a launch: first that it has begun, then which process resulted.
import { NO_CGROUP } from './cgroup.ts';
import { bootId, isAlive } from './proc-stat.ts';
import { leaderOf } from './run-leaders.ts';
import type { FoundProcess, ProcessRecord } from './state-file.ts';
import { NO_GROUP, type StopTarget } from './stop.ts';

const UNKNOWN_PID = 0;

type Launch = Omit<ProcessRecord, 'pid' | 'pgid' | 'start_time' | 'boot_id'>;

export function recordOf(launch: Launch, leader = { pid: UNKNOWN_PID, startTime: 0 }): ProcessRecord {
  return { ...launch, pid: leader.pid, pgid: leader.pid, start_time: leader.startTime, boot_id: bootId };
}

/** Finds the process of a launch whose host was killed before it could record the pid. */
export function launchedAs({ pid, boot_id: boot, run_id: runId }: Pick<ProcessRecord, 'pid' | 'boot_id' | 'run_id'>) {
  const leader = pid === UNKNOWN_PID && boot === bootId ? leaderOf(runId) : undefined;
  return leader === undefined ? {} : { pid: leader.pid, pgid: leader.pid, start_time: leader.startTime };
}

/** The target has no group once the leader has ended, because the group's id may have been reused. */
export function targetOf(processName: string, record: FoundProcess): StopTarget {
  const leader = { pid: record.pid, startTime: record.start_time, bootId: record.boot_id };
  return {
    processName,
    leader,
    pgid: isAlive(leader) ? record.pgid : NO_GROUP,
    runId: record.run_id,
    cgroup: record.cgroup ?? NO_CGROUP,
    spoolFile: record.spool ?? null,
    descendants: new Map(),
  };
}
