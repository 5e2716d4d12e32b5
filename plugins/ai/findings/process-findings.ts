// Findings from the states of processes.
import type { RestartReport } from '../../auto-restart/contract.ts';
import type { HealthReport, ProcessSnapshot } from '../../process/contract.ts';
import { causeOf, knownCause } from '../logs/known-causes.ts';
import type { Finding } from './finding.ts';
import { restartLoop } from './log-findings.ts';

const CAUSE_WEIGHT = 95;
const FAILED_WEIGHT = 60;
const LOOP_WEIGHT = 70;
const WAITING_WEIGHT = 65;
const UNHEALTHY_WEIGHT = 40;
const MIN_ATTEMPTS = 3;

export interface ObservedProcess {
  readonly snapshot: ProcessSnapshot;
  readonly health: HealthReport;
  readonly restarts: RestartReport | undefined;
}

export function processFindings({ snapshot, health, restarts }: ObservedProcess): Finding[] {
  const { processName, status, enabled, isHost, waitingFor, completed, stoppedByUser } = snapshot;
  if (isHost || !enabled || completed === true || stoppedByUser) return [];
  const failure = failureOf(snapshot);
  const attempts = restarts?.recentAttempts ?? 0;
  return [
    ...(failure === undefined ? [] : failed(processName, failure)),
    ...(attempts >= MIN_ATTEMPTS
      ? [restartLoop(`${processName} was restarted ${attempts} times. ${lastReason(restarts)}`.trim(), LOOP_WEIGHT)]
      : []),
    ...(waitingFor.length === 0 ? [] : [waiting(processName, waitingFor)]),
    ...(status === 'stopped' || health.healthy === false ? [unwell(snapshot, health)] : []),
  ];
}

/** Why the last run ended or could not begin; undefined while it runs well. */
function failureOf({ status, lastFailureReason, lastExit }: ProcessSnapshot): string | undefined {
  if (lastFailureReason !== null) return lastFailureReason;
  return status !== 'running' && lastExit?.unexpected === true ? lastExit.reason : undefined;
}

function failed(processName: string, reason: string): Finding[] {
  const cause = causeOf(reason);
  const facts = `${processName}: ${reason.replace(/[.;]?$/, '.')}`;
  const general: Finding = {
    id: 'service-failed',
    title: 'A service ended, or could not be started',
    risk: 'medium',
    facts,
    advice: 'Look at its last lines, and at what changed before.',
    weight: FAILED_WEIGHT,
  };
  if (cause === undefined) return [general];
  const { id, title, advice } = cause;
  return [{ id, title, facts, advice, weight: CAUSE_WEIGHT - (knownCause(id)?.rank ?? 0) / 2 }, general];
}

function lastReason(restarts: RestartReport | undefined): string {
  const reason = restarts?.lastFailureReason;
  return reason === null || reason === undefined ? '' : `The last reason: ${reason.replace(/[.;]?$/, '.')}`;
}

function waiting(processName: string, waitingFor: readonly string[]): Finding {
  return {
    id: 'review-waiting-service',
    title: 'A service waits for something that is not there',
    facts: `${processName} waits for ${waitingFor.join(', ')}.`,
    advice: 'Look at why that is not ready.',
    weight: WAITING_WEIGHT,
  };
}

function unwell({ processName, status }: ProcessSnapshot, { reason }: HealthReport): Finding {
  const why = reason === null ? '' : `: ${reason.replace(/[.;]?$/, '')}`;
  return {
    id: 'review-unhealthy-services',
    title: 'Enabled services are not well',
    risk: 'medium',
    facts: `${processName} is ${status === 'running' ? 'unhealthy' : status}${why}.`,
    advice: 'Begin with those that others need.',
    weight: UNHEALTHY_WEIGHT,
  };
}
