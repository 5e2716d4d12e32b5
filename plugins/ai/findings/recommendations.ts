// The recommendations of a diagnosis: what rules find in everything that was gathered before, what explains most first.
import { setImmediate as turn } from 'node:timers/promises';
import type { Host } from '#core';
import { isObject } from '#kit/plain-object';
import type {} from '../../auto-restart/contract.ts';
import type {} from '../../metrics/contract.ts';
import type { HealthReport } from '../../process/contract.ts';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';
import { healthOf } from '../evidence/database-evidence.ts';
import { changeFindings } from './change-findings.ts';
import { type Finding, recommendationsOf } from './finding.ts';
import { logFindings } from './log-findings.ts';
import { databaseFindings, machineFindings, usageFindings } from './measured-findings.ts';
import { processFindings } from './process-findings.ts';

const UNKNOWN_HEALTH: HealthReport = { status: null, healthy: null, reason: null, details: null };

export async function collectRecommendations(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  const { targets, gathered, signal } = request;
  const ofTargets: Finding[] = [];
  for (const target of targets) {
    ofTargets.push(...(await targetFindings(host, request, target)));
    // All services of a large stack at once would hold the event loop.
    await turn();
    signal.throwIfAborted();
  }
  const found = [...ofTargets, ...machineNow(host, request)];
  const all = [...found, ...changeFindings(gathered.change_history, found)];
  return { members: {}, recommendations: recommendationsOf(all) };
}

async function targetFindings(
  host: Host,
  request: EvidenceRequest,
  { processName }: EvidenceTarget,
): Promise<Finding[]> {
  const { gathered, switches } = request;
  const supervisor = host.find('process.supervisor');
  const snapshot = supervisor?.get(processName);
  const health = supervisor?.health(processName) ?? UNKNOWN_HEALTH;
  const restarts = host.find('process.restarts')?.report(processName);
  return [
    ...(snapshot === undefined ? [] : processFindings({ snapshot, health, restarts })),
    ...logFindings(processName, ofProcess(request, gathered.log_analysis, processName)),
    ...usageFindings(processName, usageOf(request, processName)),
    ...(switches.has('metrics') ? databaseFindings(processName, await healthOf(host, processName)) : []),
  ];
}

/** In a stack a member has a part for each process. */
function ofProcess({ scope }: EvidenceRequest, member: unknown, processName: string): unknown {
  if (scope === 'service') return member;
  return isObject(member) && Object.hasOwn(member, processName) ? member[processName] : undefined;
}

function usageOf(request: EvidenceRequest, processName: string): unknown {
  const { runtime_metrics: metrics } = request.gathered;
  if (request.scope === 'service') return metrics;
  return isObject(metrics) ? ofProcess(request, metrics.services, processName) : undefined;
}

function machineNow(host: Host, { switches }: EvidenceRequest): Finding[] {
  const sample = switches.has('metrics') ? host.find('metrics.sampler')?.newest() : undefined;
  return sample === undefined ? [] : machineFindings(sample);
}
