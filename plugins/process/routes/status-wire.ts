// The wire form of a process's status with its health and restart counters, shared by REST and the status stream.
import { z } from 'zod';
import type { RestartReport } from '../../auto-restart/contract.ts';
import type { InstallProgress } from '../../installs/contract.ts';
import type { HealthReport, ProcessSnapshot } from '../contract.ts';

export const holdSchema = z.lazy(() => z.object({ reason: z.string(), since: z.number().describe('Unix seconds') }));

const installSchema = z.lazy(() =>
  z.object({
    phase: z.enum(['queued', 'fetching', 'building', 'swapping', 'waiting']),
    text: z.string(),
    percent: z.number().nullable().describe('of this phase'),
  }),
);

const restartSchema = z.lazy(() =>
  z.object({
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
  }),
);

const healthMembers = {
  healthy: z.boolean().nullable(),
  health_status: z.enum(['healthy', 'degraded', 'starting', 'unhealthy']).nullable(),
  health_reason: z.string().nullable(),
  health_details: z.record(z.string(), z.unknown()).nullable(),
  restart: restartSchema,
};

export const statusSchema = z.lazy(() =>
  z.object({
    process_name: z.string(),
    status: z.string(),
    held: holdSchema.nullable().describe('why nobody may start or stop it at present'),
    install: installSchema.nullable().describe('how far the installation of its program is'),
    ...z.object(healthMembers).partial().shape,
  }),
);

export const statusListSchema = z.lazy(() =>
  z.object({
    processes: z.array(
      z.object({
        process_name: z.string(),
        enabled: z.boolean().describe('enabled by the configuration, or started by hand since'),
        status: z.string(),
        held: holdSchema.nullable(),
        install: installSchema.nullable(),
        pid: z.number().nullable(),
        started_at: z.number().nullable().describe('Unix seconds of the launch'),
        waiting_for: z.array(z.string()).describe('what a start waits for'),
        ...healthMembers,
      }),
    ),
  }),
);

export type HealthMembers = z.input<z.ZodObject<typeof healthMembers>>;

/** The report of a process that is not restarted automatically. */
const NEVER_RESTARTED: RestartReport = {
  attempts: 0,
  successes: 0,
  failures: 0,
  recentAttempts: 0,
  pending: false,
  nextAt: null,
  lastAt: null,
  lastFailureReason: null,
  unhealthyCount: 0,
  unhealthyThreshold: 0,
  awaitingRecovery: false,
};

/** `install` is undefined while nothing is being installed for the process. */
export function statusToWire({ processName, status, held }: ProcessSnapshot, install: InstallProgress | undefined) {
  return {
    process_name: processName,
    status,
    held: held === null ? null : { ...held },
    install: installToWire(install),
  };
}

export function installToWire(install: InstallProgress | undefined): z.input<typeof installSchema> | null {
  return install === undefined ? null : { phase: install.phase, text: install.text, percent: install.percent };
}

/** `restarts` is undefined when no plugin that restarts processes is loaded. */
export function healthToWire(
  snapshot: ProcessSnapshot,
  health: HealthReport,
  restarts: RestartReport | undefined,
): HealthMembers {
  return {
    healthy: health.healthy,
    health_status: health.status,
    health_reason: health.reason,
    health_details: health.details === null ? null : { ...health.details },
    restart: restartToWire(snapshot, health, restarts ?? NEVER_RESTARTED),
  };
}

function restartToWire(
  { lastExit, lastFailureReason, stoppedByUser, ...snapshot }: ProcessSnapshot,
  health: HealthReport,
  restarts: RestartReport,
): z.input<typeof restartSchema> {
  const state = readinessOf(snapshot.status, health);
  return {
    restart_attempts: restarts.attempts,
    restart_successes: restarts.successes,
    restart_failures: restarts.failures,
    recent_restart_attempts: restarts.recentAttempts,
    pending: restarts.pending,
    next_restart_time: restarts.nextAt,
    disabled: stoppedByUser,
    last_restart_time: restarts.lastAt,
    last_failure_reason: lastFailureReason ?? restarts.lastFailureReason,
    last_exit_reason: lastExit?.reason ?? null,
    last_exit_time: lastExit?.at ?? null,
    unhealthy_count: restarts.unhealthyCount,
    unhealthy_threshold: restarts.unhealthyThreshold,
    readiness_state: state,
    ready_at: state === 'ready' ? snapshot.startedAt : null,
    awaiting_recovery: restarts.awaitingRecovery,
    exit_code: lastExit?.code ?? null,
    exit_signal: lastExit?.signal ?? null,
  };
}

function readinessOf(
  status: ProcessSnapshot['status'],
  health: HealthReport,
): 'pending' | 'starting' | 'ready' | 'unhealthy' {
  if (status === 'starting') return 'starting';
  if (status !== 'running') return health.status === 'unhealthy' ? 'unhealthy' : 'pending';
  if (health.status === 'unhealthy' || health.status === 'starting') return health.status;
  return 'ready';
}
