// Evidence from the supervisor: which processes there are, and their states.
import type { Host } from '#core';
import { utcTime } from '#kit/utc-time';
import type {} from '../../process/contract.ts';
import type {} from '../../versions/contract.ts';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';

const MS_PER_S = 1_000;

/** The list of processes. */
export async function collectProcesses(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  if (request.scope === 'service') return { members: { processes: everyProcess(host) } };
  const ordered = [...request.targets].sort((a, b) => Number(b.enabled) - Number(a.enabled));
  const shown = ordered.slice(0, request.maxServices);
  return {
    members: {
      processes: shown.map(target => entryOf(host, target)),
      processes_omitted: ordered.length - shown.length,
    },
    coverage: { processes: shown.length },
  };
}

/** How many services of a stack are in which state, and which need attention. */
export async function collectSummary(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  if (request.scope === 'service') return undefined;
  const { targets } = request;
  const attention = {
    unhealthy: targets.filter(({ enabled, healthy }) => enabled && healthy === false),
    stopped: targets.filter(({ enabled, status }) => enabled && status === 'stopped'),
    unknown: targets.filter(({ status }) => isUnknown(status)),
  };
  const counts = {
    total: targets.length,
    enabled: targets.filter(({ enabled }) => enabled).length,
    running: targets.filter(({ status }) => status === 'running').length,
    stopped: targets.filter(({ status }) => status === 'stopped').length,
    unhealthy: attention.unhealthy.length,
    unknown: attention.unknown.length,
  };
  const entries = (found: readonly EvidenceTarget[]) => found.map(target => entryOf(host, target));
  return {
    members: {
      stack_summary: {
        counts,
        attention: {
          unhealthy: entries(attention.unhealthy),
          stopped: entries(attention.stopped),
          unknown: entries(attention.unknown),
        },
      },
    },
  };
}

/** The state of the one service and its restarts. */
export async function collectStatus(
  host: Host,
  { scope, targets: [target] }: EvidenceRequest,
): Promise<Evidence | undefined> {
  if (scope === 'stack' || target === undefined) return undefined;
  const supervisor = host.find('process.supervisor');
  const snapshot = supervisor?.get(target.processName);
  if (supervisor === undefined || snapshot === undefined) return { members: { service_status: {} } };
  const { status, healthy, reason, details } = supervisor.health(target.processName);
  const restarts = host.find('process.restarts')?.report(target.processName);
  return {
    members: {
      service_status: {
        status: snapshot.status,
        healthy,
        health_status: status,
        health_reason: reason,
        health_details: details,
        last_failure_reason: snapshot.lastFailureReason,
        last_exit: snapshot.lastExit && {
          reason: snapshot.lastExit.reason,
          at: utcTime(snapshot.lastExit.at * MS_PER_S),
        },
        waiting_for: snapshot.waitingFor,
        restart:
          restarts === undefined
            ? null
            : {
                attempts: restarts.attempts,
                successes: restarts.successes,
                failures: restarts.failures,
                recent_attempts: restarts.recentAttempts,
                pending: restarts.pending,
                next_restart_at: restarts.nextAt === null ? null : utcTime(restarts.nextAt * MS_PER_S),
                last_restart_at: restarts.lastAt === null ? null : utcTime(restarts.lastAt * MS_PER_S),
                last_failure_reason: restarts.lastFailureReason,
                unhealthy_count: restarts.unhealthyCount,
                unhealthy_threshold: restarts.unhealthyThreshold,
                ready: snapshot.wasReady,
              },
      },
    },
  };
}

function everyProcess(host: Host) {
  const supervisor = host.find('process.supervisor');
  const blocks = supervisor?.blocks() ?? host.use('config.store').blocks();
  return blocks.map(({ processName, configKey, key, block }) => ({
    name: key,
    process_name: processName,
    config_key: configKey,
    enabled: block.enabled === true,
    status: supervisor?.get(processName)?.status ?? 'unknown',
  }));
}

function entryOf(host: Host, { processName, path, configKey, enabled, status, healthy }: EvidenceTarget) {
  return {
    name: path.at(-1) ?? processName,
    process_name: processName,
    config_key: configKey,
    enabled,
    version: host.find('service.versions')?.of(processName) ?? null,
    status,
    healthy,
    health_reason: host.find('process.supervisor')?.health(processName).reason ?? null,
  };
}

function isUnknown(status: string): boolean {
  return status === '' || status === 'unknown' || status === 'none';
}
