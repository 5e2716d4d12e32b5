// The recommendations of a diagnosis: what rules find in all evidence gathered before, the most important first.
import type { Host } from '#core';
import { isObject } from '#kit/plain-object';
import { turnWithTime } from '#kit/turns';
import type {} from '../../auto-restart/contract.ts';
import type { HealthReport } from '../../process/contract.ts';
import type { Evidence, EvidenceRequest, EvidenceTarget } from '../contract.ts';
import { healthOf } from '../evidence/database-evidence.ts';
import { presentSample } from '../evidence/present-sample.ts';
import { changeFindings } from './change-findings.ts';
import { type Finding, recommendationsOf } from './finding.ts';
import { logFindings } from './log-findings.ts';
import { databaseFindings, machineFindings, usageFindings } from './measured-findings.ts';
import { processFindings } from './process-findings.ts';

type Looked = Pick<EvidenceRequest, 'scope' | 'switches' | 'gathered'>;

const UNKNOWN_HEALTH: HealthReport = { status: null, healthy: null, reason: null, details: null };

export async function collectRecommendations(host: Host, request: EvidenceRequest): Promise<Evidence | undefined> {
  // Each member is read only once here, because a read of what another plugin gave checks all of it.
  const { scope, switches, targets, gathered, signal } = request;
  const looked: Looked = { scope, switches, gathered };
  const ofTargets: Finding[] = [];
  for (const target of targets) {
    await turnWithTime();
    signal.throwIfAborted();
    ofTargets.push(...(await targetFindings(host, looked, target)));
  }
  await turnWithTime();
  const found = [...ofTargets, ...(await machineNow(host, looked))];
  const all = [...found, ...changeFindings(gathered.change_history, found)];
  return { members: {}, recommendations: recommendationsOf(all) };
}

async function targetFindings(host: Host, looked: Looked, { processName }: EvidenceTarget): Promise<Finding[]> {
  const { gathered, switches } = looked;
  const supervisor = host.find('process.supervisor');
  const snapshot = supervisor?.get(processName);
  const health = supervisor?.health(processName) ?? UNKNOWN_HEALTH;
  const restarts = host.find('process.restarts')?.report(processName);
  return [
    ...(snapshot === undefined ? [] : processFindings({ snapshot, health, restarts })),
    ...logFindings(processName, ofProcess(looked, gathered.log_analysis, processName)),
    ...usageFindings(processName, usageOf(looked, processName)),
    ...(switches.has('metrics') ? databaseFindings(processName, await healthOf(host, processName)) : []),
  ];
}

/** The part of a member for one process. In a stack, a member has a part for each process. */
function ofProcess({ scope }: Looked, member: unknown, processName: string): unknown {
  if (scope === 'service') return member;
  return isObject(member) && Object.hasOwn(member, processName) ? member[processName] : undefined;
}

function usageOf(looked: Looked, processName: string): unknown {
  const { runtime_metrics: metrics } = looked.gathered;
  if (looked.scope === 'service') return metrics;
  return isObject(metrics) ? ofProcess(looked, metrics.services, processName) : undefined;
}

async function machineNow(host: Host, { switches }: Looked): Promise<Finding[]> {
  const sample = switches.has('metrics') ? await presentSample(host) : undefined;
  return sample === undefined ? [] : machineFindings(sample);
}
