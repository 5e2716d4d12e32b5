// The wire form of a process's status with its health and restart counters, shared by REST and the status stream.
import { z } from 'zod';
import type { AutoRestart } from '../auto-restart.ts';
import type { HealthReport, ProcessSnapshot } from '../contract.ts';

const restartSchema = z.object({
  restart_attempts: z.number(),
  restart_successes: z.number(),
  restart_failures: z.number(),
  recent_restart_attempts: z.number().describe('attempts still inside the window'),
  pending: z.boolean(),
  next_restart_time: z.number().nullable(),
  disabled: z.boolean().describe('true after a manual stop'),
  last_restart_time: z.number().nullable(),
  last_failure_reason: z.string().nullable(),
  last_exit_reason: z.string().nullable(),
  last_exit_time: z.number().nullable(),
  unhealthy_count: z.number(),
  unhealthy_threshold: z.number(),
  readiness_state: z.enum(['pending', 'starting', 'ready', 'unhealthy']),
  ready_at: z.number().nullable(),
  awaiting_recovery: z.boolean(),
  exit_code: z.number().nullable(),
  exit_signal: z.string().nullable(),
});

const healthMembers = {
  healthy: z.boolean().nullable(),
  health_status: z.enum(['healthy', 'degraded', 'starting', 'unhealthy']).nullable(),
  health_reason: z.string().nullable(),
  health_details: z.record(z.string(), z.unknown()).nullable(),
  restart: restartSchema,
};

export const statusSchema = z.object({
  process_name: z.string(),
  status: z.string(),
  ...z.object(healthMembers).partial().shape,
});

export type HealthMembers = z.input<z.ZodObject<typeof healthMembers>>;

export function healthToWire(snapshot: ProcessSnapshot, health: HealthReport, autoRestart: AutoRestart): HealthMembers {
  return {
    healthy: health.healthy,
    health_status: health.status,
    health_reason: health.reason,
    health_details: health.details === null ? null : { ...health.details },
    restart: restartToWire(snapshot, health, autoRestart),
  };
}

function restartToWire(
  snapshot: ProcessSnapshot,
  health: HealthReport,
  autoRestart: AutoRestart,
): z.input<typeof restartSchema> {
  const { lastExit, lastFailureReason, stoppedByUser, processName } = snapshot;
  const report = autoRestart.report(processName);
  const state = readinessOf(snapshot, health);
  return {
    restart_attempts: report.attempts,
    restart_successes: report.successes,
    restart_failures: report.failures,
    recent_restart_attempts: report.recentAttempts,
    pending: report.pending,
    next_restart_time: report.nextAt,
    disabled: stoppedByUser,
    last_restart_time: report.lastAt,
    last_failure_reason: lastFailureReason ?? report.lastFailureReason,
    last_exit_reason: lastExit?.reason ?? null,
    last_exit_time: lastExit?.at ?? null,
    unhealthy_count: report.unhealthyCount,
    unhealthy_threshold: report.unhealthyThreshold,
    readiness_state: state,
    ready_at: readyAt(snapshot, state),
    awaiting_recovery: report.awaitingRecovery,
    exit_code: lastExit?.code ?? null,
    exit_signal: lastExit?.signal ?? null,
  };
}

function readinessOf(
  { status }: ProcessSnapshot,
  health: HealthReport,
): 'pending' | 'starting' | 'ready' | 'unhealthy' {
  if (status === 'starting') return 'starting';
  if (status !== 'running') return health.status === 'unhealthy' ? 'unhealthy' : 'pending';
  if (health.status === 'unhealthy' || health.status === 'starting') return health.status;
  return 'ready';
}

function readyAt({ startedAt }: ProcessSnapshot, state: string): number | null {
  return state === 'ready' ? startedAt : null;
}
