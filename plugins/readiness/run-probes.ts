// The probes of all running services: readiness tells their health, liveness asks for restarts.
import type { Host, NamedBlock } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { logFileOf } from '#kit/service-log';
import type {} from '../auto-restart/contract.ts';
import type {} from '../health-probe/contract.ts';
import type { HealthReport, LaunchPlan, ProcessSnapshot } from '../process/contract.ts';
import { LogText } from './log-text.ts';
import { look } from './look.ts';
import { ProbeLoop } from './probe-loop.ts';
import { type LivenessKey, type ReadinessKey, timingOf } from './settings.ts';

/** Pause between the first two looks at a starting service. */
const FIRST_PAUSE_MS = 100;

type Kind = 'readiness' | 'liveness';

interface RunProbes {
  readonly pid: number;
  /** The plan of the launch; undefined for a run that an earlier host launched. */
  readonly plan: LaunchPlan | undefined;
  /** The search in the log; undefined when the run was launched without a text to search for. */
  readonly log: LogText | undefined;
  readonly loops: Map<Kind, { readonly loop: ProbeLoop; readonly key: LivenessKey | ReadinessKey }>;
}

export class RunsProbes {
  readonly #host: Host;
  readonly #runs = new Map<string, RunProbes>();
  /** By names of processes that are about to be launched. */
  readonly #logs = new Map<string, LogText>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** What it says at once comes before anybody is told of its launch. */
  async launching({ processName, block }: LaunchPlan): Promise<void> {
    this.#logs.delete(processName);
    const text = this.#keys(processName).readiness?.log;
    const file = logFileOf(block.log_file, this.#host.paths.logDir);
    if (text !== undefined && file !== null) this.#logs.set(processName, await LogText.from(file, text));
  }

  launched({ processName, pid }: ProcessSnapshot, plan: LaunchPlan): void {
    const log = this.#logs.get(processName);
    this.#logs.delete(processName);
    if (pid !== null) this.#enter(processName, { pid, plan, log });
  }

  /** Begins the probes that the configuration has for running processes, and begins changed ones anew. */
  review(): void {
    for (const [processName, { loops }] of this.#runs) if (loops.size > 0) this.#follow(processName, loops);
    const supervisor = this.#host.find('process.supervisor');
    for (const { processName, block } of this.#host.use('config.store').blocks()) {
      // Looking up each of hundreds of services would take milliseconds at each change of the configuration.
      if (block.readiness === undefined && block.liveness === undefined) continue;
      const { pid = null, status } = supervisor?.get(processName) ?? {};
      if (pid === null || status !== 'running') continue;
      if (this.#runs.get(processName)?.pid !== pid) this.#enter(processName, { pid, plan: undefined, log: undefined });
      this.#begin(processName);
    }
  }

  exited({ processName }: ProcessSnapshot): void {
    const run = this.#runs.get(processName);
    if (run === undefined || this.#host.find('process.supervisor')?.get(processName)?.pid === run.pid) return;
    this.#leave(processName);
  }

  end(): void {
    for (const name of this.#runs.keys()) this.#leave(name);
  }

  /** The health of a service by its readiness probe. */
  report({ processName }: NamedBlock): HealthReport {
    const loop = this.#runs.get(processName)?.loops.get('readiness')?.loop;
    const details = { probe: 'readiness' };
    if (loop?.state === 'passing') return { status: 'healthy', healthy: true, reason: null, details };
    const reason = loop?.reason ?? 'Its readiness has not been looked at yet';
    if (loop?.state === 'failing') return { status: 'unhealthy', healthy: false, reason, details };
    return { status: 'starting', healthy: true, reason, details };
  }

  #enter(processName: string, run: Omit<RunProbes, 'loops'>): void {
    this.#leave(processName);
    this.#runs.set(processName, { ...run, loops: new Map() });
    this.#begin(processName);
  }

  #leave(processName: string): void {
    for (const { loop } of this.#runs.get(processName)?.loops.values() ?? []) loop.end();
    this.#runs.delete(processName);
  }

  #follow(processName: string, loops: RunProbes['loops']): void {
    for (const [kind, { loop, key: before }] of loops) {
      const key = this.#keys(processName)[kind];
      if (deepEqual(key, before)) continue;
      if (key === undefined) {
        loop.end();
        loops.delete(kind);
      } else {
        loops.set(kind, { loop, key });
        loop.again();
      }
    }
  }

  #begin(processName: string): void {
    const run = this.#runs.get(processName);
    for (const kind of ['readiness', 'liveness'] as const) {
      const wanted = this.#keys(processName)[kind];
      if (run === undefined || run.loops.has(kind) || wanted === undefined) continue;
      const loop = new ProbeLoop({
        initially: kind === 'readiness' ? 'unknown' : 'passing',
        firstPauseMs: this.#host.paced(FIRST_PAUSE_MS),
        timing: () => {
          const key = this.#keys(processName)[kind];
          if (key !== undefined) return timingOf(key);
          run.loops.delete(kind);
        },
        look: () => this.#look(processName, run, kind),
        onChange: reason =>
          kind === 'readiness' ? this.#ready(processName, reason) : this.#lives(processName, reason),
        // At the limit of restarts nothing was planned, so that the restart is asked for again.
        onStillFailing: reason => {
          const restarts = kind === 'liveness' ? this.#host.find('process.restarts') : undefined;
          restarts?.restart(processName, livenessFailure(reason));
        },
      });
      run.loops.set(kind, { loop, key: wanted });
    }
  }

  async #look(processName: string, run: RunProbes, kind: Kind): Promise<string | null> {
    const keys = this.#keys(processName);
    const key = keys[kind];
    if (key === undefined) return null;
    // A service that was launched before this host or before the key has written its line long ago.
    if (kind === 'readiness' && keys.readiness?.log !== undefined) return (await run.log?.look()) ?? null;
    const block = this.#host.use('config.store').findBlock(processName);
    const plan = () => run.plan ?? (block && this.#host.find('process.supervisor')?.plan(block));
    const { timeoutMs } = timingOf(key);
    return look(key, { host: this.#host, block: block?.block ?? {}, timeoutMs, plan });
  }

  #ready(processName: string, reason: string | null): void {
    if (reason === null) this.#host.log.info(`${processName} is ready`);
    else this.#host.log.warn(`${processName} is not ready any more: ${reason}`);
    const snapshot = this.#host.find('process.supervisor')?.get(processName);
    if (snapshot?.status === 'running') void this.#host.find('process.health')?.ask(snapshot);
  }

  #lives(processName: string, reason: string | null): void {
    if (reason === null) return;
    const restarts = this.#host.find('process.restarts');
    const failed = livenessFailure(reason);
    if (restarts === undefined)
      this.#host.log.warn(`${processName} is not restarted without the plugin auto-restart: ${failed}`);
    else restarts.restart(processName, failed);
  }

  #keys(processName: string): { readonly readiness?: ReadinessKey; readonly liveness?: LivenessKey } {
    return this.#host.use('config.store').findBlock(processName)?.block ?? {};
  }
}

function livenessFailure(reason: string): string {
  return `its liveness failed: ${reason}`;
}
