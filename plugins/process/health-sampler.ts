// The one place where running processes are probed: at most once in five seconds each, eight at a time, answers kept.
import PQueue from 'p-queue';
import type { Host } from '#core';
import type { HealthReport, ProcessProbe, ProcessSnapshot } from './contract.ts';
import { checkHealth, report } from './health-check.ts';

const INTERVAL_MS = 5_000;
const AT_ONCE = 8;

const NOT_RUNNING = 'Process not running';
const NOTHING: HealthReport = { status: null, healthy: null, reason: null, details: null };

interface Sample {
  readonly pid: number;
  readonly atMs: number;
  readonly health: HealthReport;
}

export class HealthSampler {
  readonly #host: Host;
  readonly #list: () => readonly ProcessSnapshot[];
  readonly #probes: ReadonlyMap<string, ProcessProbe>;
  readonly #samples = new Map<string, Sample>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #queue = new PQueue({ concurrency: AT_ONCE });

  constructor(host: Host, list: () => readonly ProcessSnapshot[]) {
    this.#host = host;
    this.#list = list;
    this.#probes = host.contributions('process.probe');
    host.every(host.paced(INTERVAL_MS), () => this.#sampleAll());
  }

  /** What is known now; no probe runs for it. */
  health(processName: string): HealthReport {
    const snapshot = this.#list().find(candidate => candidate.processName === processName);
    return snapshot === undefined ? NOTHING : this.#describe(snapshot);
  }

  /** As `health`, but a running process without an answer yet is probed first, for at most `limitMs`. */
  async fresh(processName: string, limitMs: number): Promise<HealthReport> {
    const snapshot = this.#list().find(candidate => candidate.processName === processName);
    if (snapshot !== undefined && snapshot.status === 'running' && this.#sampleOf(snapshot) === undefined) {
      await Promise.race([this.#sample(snapshot), new Promise(resolve => setTimeout(resolve, limitMs).unref())]);
    }
    return this.health(processName);
  }

  /** Probed anew: healthy or degraded counts as ready. */
  async isReady(processName: string): Promise<boolean> {
    const snapshot = this.#list().find(candidate => candidate.processName === processName);
    if (snapshot === undefined || snapshot.status !== 'running') return false;
    await this.#sample(snapshot);
    const { status } = this.health(processName);
    return status === 'healthy' || status === 'degraded';
  }

  #describe(snapshot: ProcessSnapshot): HealthReport {
    const { status, stoppedByUser, lastFailureReason, lastExit, waitingFor, configKey } = snapshot;
    if (configKey === 'dumb_api_service') return { status: 'healthy', healthy: true, reason: null, details: null };
    if (status === 'starting') {
      return {
        ...NOTHING,
        status: 'starting',
        reason: waitingFor.length > 0 ? `Waiting for ${waitingFor.join(', ')}` : null,
      };
    }
    if (status === 'running')
      return this.#sampleOf(snapshot)?.health ?? { ...NOTHING, status: 'starting', healthy: true };
    if (status !== 'stopped') return NOTHING;
    const reason = lastFailureReason ?? (lastExit?.unexpected === true ? lastExit.reason : null);
    if (stoppedByUser || reason === null) return { ...NOTHING, reason: NOT_RUNNING };
    return {
      status: 'unhealthy',
      healthy: false,
      reason,
      details: lastExit === null ? null : { probe: 'process', exit_code: lastExit.code },
    };
  }

  /** An answer counts for the very process that gave it. */
  #sampleOf({ processName, pid }: ProcessSnapshot): Sample | undefined {
    const sample = this.#samples.get(processName);
    return sample?.pid === pid ? sample : undefined;
  }

  async #sampleAll(): Promise<void> {
    const running = this.#list().filter(
      ({ status, configKey }) => status === 'running' && configKey !== 'dumb_api_service',
    );
    await Promise.all(running.map(snapshot => this.#sample(snapshot)));
  }

  #sample(snapshot: ProcessSnapshot): Promise<void> {
    const { processName } = snapshot;
    const sample = this.#sampleOf(snapshot);
    const started = this.#running.get(processName);
    if (started !== undefined) return started;
    if (sample !== undefined && performance.now() - sample.atMs < this.#host.paced(INTERVAL_MS) / 2)
      return Promise.resolve();
    const run = this.#queue.add(() => this.#probe(snapshot)).finally(() => this.#running.delete(processName));
    this.#running.set(processName, run);
    return run;
  }

  async #probe({ processName, pid }: ProcessSnapshot): Promise<void> {
    const block = this.#host.use('config.store').findBlock(processName);
    if (block === undefined || pid === null) return;
    const health = await checkHealth(block, this.#probes.values(), this.#host.fetch).catch((error: unknown) =>
      report('degraded', 'the health check itself failed', {
        probe: 'none',
        error_type: error instanceof Error ? error.name : 'Error',
      }),
    );
    this.#samples.set(processName, { pid, atMs: performance.now(), health });
  }
}
