// The health of a process: by its status, and while it runs by its probe. Without probes a running process is healthy.
import type { Host } from '#core';
import type {} from '../../health-probe/contract.ts';
import type { HealthReport, ProcessSnapshot } from '../contract.ts';

const NOT_RUNNING = 'Process not running';
const COMPLETED = 'It has done its work';
const NOTHING: HealthReport = { status: null, healthy: null, reason: null, details: null };
const UNASKED: HealthReport = {
  status: 'starting',
  healthy: true,
  reason: 'Its health has not been looked at yet',
  details: null,
};
const RUNS: HealthReport = { status: 'healthy', healthy: true, reason: null, details: { probe: 'process' } };
/** The report of the host's own entry, whose answer proves its health. */
const ANSWERS: HealthReport = { ...RUNS, details: null };

export class ProcessHealthReports {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The present report; nothing is probed for it. */
  of(process: ProcessSnapshot): HealthReport {
    const { status, stoppedByUser, lastFailureReason, lastExit, completed } = process;
    if (status === 'starting') return { ...NOTHING, status: 'starting', reason: startingReason(process) };
    if (status === 'running') return this.#ofRunning(process);
    if (status !== 'stopped') return NOTHING;
    const reason = lastFailureReason ?? (lastExit?.unexpected === true ? lastExit.reason : null);
    if (stoppedByUser || reason === null)
      return { ...NOTHING, reason: completed === true && !stoppedByUser ? COMPLETED : NOT_RUNNING };
    const details = lastExit === null ? null : { probe: 'process', exit_code: lastExit.code };
    return { status: 'unhealthy', healthy: false, reason, details };
  }

  /** Same as `of`, but first probes a running process that has no report yet, for at most `limitMs`. */
  async fresh(process: ProcessSnapshot, limitMs: number): Promise<HealthReport> {
    const probe = this.#host.find('process.health');
    if (process.status === 'running' && process.pgid !== null && probe?.last(process) === undefined)
      await Promise.race([probe?.ask(process), new Promise(resolve => setTimeout(resolve, limitMs).unref())]);
    return this.of(process);
  }

  /** Probes the process. Healthy and degraded count as ready; a one-shot service is ready once its work is done. */
  async isReady(process: ProcessSnapshot): Promise<boolean> {
    if (process.completed !== null) return process.completed;
    if (process.status !== 'running') return false;
    await this.#host.find('process.health')?.ask(process);
    return isReadyBy(this.of(process));
  }

  #ofRunning(process: ProcessSnapshot): HealthReport {
    if (process.pgid === null) return ANSWERS;
    const probe = this.#host.find('process.health');
    return probe === undefined ? RUNS : (probe.last(process) ?? UNASKED);
  }
}

/** Never empty: clients that get no reason go on showing that of the run before. */
function startingReason({ waitingFor, pid }: ProcessSnapshot): string {
  if (waitingFor.length > 0) return `Waiting for ${waitingFor.join(', ')}`;
  return pid === null ? 'Its launch is being prepared' : 'It was launched a moment ago';
}

export function isReadyBy({ status }: HealthReport): boolean {
  return status === 'healthy' || status === 'degraded';
}
