// Brings services back that ended or stay unhealthy: one tick decides for all, every attempt counts, a user's stop wins.
import type { Host } from '#core';
import type { ExitRecord, HealthReport, ProcessEventType, ProcessSnapshot } from './contract.ts';
import { type RestartLimits, RestartWindow } from './restart-policy.ts';
import type { AutoRestartSettings } from './settings.ts';
import type { Supervisor } from './supervise/supervisor.ts';

const TICK_MS = 1_000;

export interface AutoRestartOptions {
  readonly host: Host;
  readonly supervisor: Supervisor;
  readonly settings: () => AutoRestartSettings;
  readonly health: (processName: string) => HealthReport;
  readonly onEvent: (type: ProcessEventType, processName: string, reason: string | null) => void;
}

/** Counters and plans of one process, as `restart` of service-status shows them. */
export interface RestartReport {
  readonly attempts: number;
  readonly successes: number;
  readonly failures: number;
  readonly recentAttempts: number;
  readonly pending: boolean;
  /** Unix seconds. */
  readonly nextAt: number | null;
  readonly lastAt: number | null;
  readonly lastFailureReason: string | null;
  readonly unhealthyCount: number;
  readonly unhealthyThreshold: number;
  readonly awaitingRecovery: boolean;
}

interface Policy extends RestartLimits {
  readonly onUnhealthy: boolean;
  readonly checkEveryMs: number;
  readonly threshold: number;
  readonly graceMs: number;
}

interface Watch {
  readonly window: RestartWindow;
  attempts: number;
  successes: number;
  failures: number;
  unhealthyCount: number;
  checkedMs: number;
  /** Monotonic milliseconds of the next attempt. */
  dueMs: number | null;
  reason: string | null;
  lastAt: number | null;
  lastFailureReason: string | null;
  awaitingRecovery: boolean;
  suppressed: boolean;
  busy: boolean;
}

export class AutoRestart {
  readonly #options: AutoRestartOptions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: AutoRestartOptions) {
    this.#options = options;
    options.host.every(options.host.paced(TICK_MS), () => this.#tick());
  }

  report(processName: string): RestartReport {
    const watch = this.#watch(processName);
    const policy = this.#policy(processName);
    const now = performance.now();
    return {
      attempts: watch.attempts,
      successes: watch.successes,
      failures: watch.failures,
      recentAttempts: watch.window.recent(now, policy?.windowMs ?? 300_000),
      pending: watch.dueMs !== null && Number.isFinite(watch.dueMs),
      nextAt: watch.dueMs === null || !Number.isFinite(watch.dueMs) ? null : (Date.now() + watch.dueMs - now) / 1_000,
      lastAt: watch.lastAt,
      lastFailureReason: watch.lastFailureReason,
      unhealthyCount: watch.unhealthyCount,
      unhealthyThreshold: policy?.threshold ?? 3,
      awaitingRecovery: watch.awaitingRecovery,
    };
  }

  /** A manual start gives the process a clean slate. */
  reset(processName: string): void {
    this.#watch(processName).window.clear();
    this.cancel(processName);
  }

  /** Drops what is planned and what is still to be proven; totals and the window stay. */
  cancel(processName: string): void {
    const watch = this.#watch(processName);
    this.#unplan(watch);
    watch.unhealthyCount = 0;
    watch.awaitingRecovery = false;
  }

  exited({ processName }: ProcessSnapshot, exit: ExitRecord): void {
    if (!exit.unexpected) return;
    const watch = this.#watch(processName);
    if (watch.awaitingRecovery) this.#failed(processName, watch, exit.reason);
    if (!watch.busy) this.#plan(processName, exit.reason);
  }

  #tick(): void {
    const { supervisor, host } = this.#options;
    const settledMs = supervisor.settledMs;
    if (settledMs === null || host.stopping !== null) return;
    for (const snapshot of supervisor.list()) {
      const { processName } = snapshot;
      const watch = this.#watch(processName);
      const policy = this.#policy(processName);
      if (policy === undefined || snapshot.stoppedByUser) {
        this.cancel(processName);
        continue;
      }
      const now = performance.now();
      if (snapshot.status === 'running') this.#check(snapshot, watch, policy, now, settledMs);
      else if (snapshot.status === 'stopped' && watch.dueMs === null && !watch.busy) this.#considerStopped(snapshot);
      if (watch.dueMs !== null && now >= watch.dueMs && !watch.busy) void this.#attempt(snapshot, watch, policy);
    }
  }

  /** An enabled process that ended or failed to start, also one that did so during the boot. */
  #considerStopped({ processName, lastExit, lastFailureReason }: ProcessSnapshot): void {
    const reason = lastFailureReason ?? (lastExit?.unexpected === true ? lastExit.reason : null);
    if (reason !== null) this.#plan(processName, reason);
  }

  #check(snapshot: ProcessSnapshot, watch: Watch, policy: Policy, now: number, settledMs: number): void {
    const { processName } = snapshot;
    const { status, reason } = this.#options.health(processName);
    if (status === 'healthy') this.#well(processName, watch);
    if (!policy.onUnhealthy || policy.checkEveryMs <= 0) return;
    const graceFrom = Math.max(snapshot.startedMonotonicMs ?? 0, settledMs);
    if (now - graceFrom < policy.graceMs || now - watch.checkedMs < policy.checkEveryMs) return;
    watch.checkedMs = now;
    if (status === 'unhealthy') watch.unhealthyCount += 1;
    else if (status !== 'starting') watch.unhealthyCount = 0;
    if (watch.unhealthyCount < policy.threshold || watch.dueMs !== null) return;
    watch.unhealthyCount = 0;
    const text = reason ?? 'unhealthy';
    this.#options.onEvent('service.unhealthy', processName, text);
    if (watch.awaitingRecovery) this.#failed(processName, watch, text);
    this.#plan(processName, text);
  }

  #plan(processName: string, reason: string): void {
    const policy = this.#policy(processName);
    const watch = this.#watch(processName);
    if (policy === undefined || watch.dueMs !== null) return;
    const now = performance.now();
    const decision = watch.window.decide(now, policy);
    watch.reason = reason;
    if (decision.kind === 'after') {
      watch.dueMs = now + decision.delayMs;
      watch.suppressed = false;
      return;
    }
    // One that still runs is left alone: it may get well, and counts anew if it does not.
    if (this.#options.supervisor.get(processName)?.status !== 'running') watch.dueMs = now + decision.delayMs;
    if (!watch.suppressed) this.#options.onEvent('service.auto_restart.suppressed', processName, reason);
    watch.suppressed = true;
  }

  async #attempt(snapshot: ProcessSnapshot, watch: Watch, policy: Policy): Promise<void> {
    const { processName } = snapshot;
    const { supervisor, host, onEvent } = this.#options;
    // The limit may have been lowered, or the window may still be full, since this was planned.
    const decision = watch.window.decide(performance.now(), policy);
    watch.dueMs = null;
    if (decision.kind === 'suppressed') return this.#plan(processName, watch.reason ?? 'limit reached');
    watch.busy = true;
    watch.window.record(performance.now());
    watch.attempts += 1;
    watch.unhealthyCount = 0;
    onEvent('service.auto_restart.attempt', processName, watch.reason);
    try {
      await supervisor.restart(processName, 'auto-restart');
      watch.awaitingRecovery = true;
    } catch (error) {
      if (host.stopping !== null || supervisor.get(processName)?.stoppedByUser !== false) return;
      const reason = error instanceof Error ? error.message : String(error);
      host.log.warn(`${processName} could not be restarted`, error);
      this.#failed(processName, watch, reason);
      this.#plan(processName, reason);
    } finally {
      watch.busy = false;
    }
  }

  /** A healthy answer proves a recovery, ends an episode and makes a planned restart needless. */
  #well(processName: string, watch: Watch): void {
    this.#unplan(watch);
    if (!watch.awaitingRecovery) return;
    watch.awaitingRecovery = false;
    watch.successes += 1;
    watch.lastAt = Date.now() / 1_000;
    this.#options.onEvent('service.auto_restart.succeeded', processName, null);
  }

  #failed(processName: string, watch: Watch, reason: string): void {
    watch.awaitingRecovery = false;
    watch.failures += 1;
    watch.lastFailureReason = reason;
    this.#options.onEvent('service.auto_restart.failed', processName, reason);
  }

  #unplan(watch: Watch): void {
    watch.dueMs = null;
    watch.suppressed = false;
  }

  #policy(processName: string): Policy | undefined {
    const settings = this.#options.settings();
    const service = settings.services.find(entry => entry.process_name === processName);
    if (!settings.enabled || service === undefined || service.enabled === false) return undefined;
    const merged: AutoRestartSettings = { ...settings, ...(service as Partial<AutoRestartSettings>) };
    return {
      onUnhealthy: merged.restart_on_unhealthy,
      checkEveryMs: merged.healthcheck_interval * 1_000,
      threshold: merged.unhealthy_threshold,
      maxRestarts: merged.max_restarts,
      windowMs: merged.window_seconds * 1_000,
      backoffMs: merged.backoff_seconds.map(delay => delay * 1_000),
      graceMs: merged.grace_period_seconds * 1_000,
    };
  }

  #watch(processName: string): Watch {
    const known = this.#watches.get(processName);
    if (known !== undefined) return known;
    const created: Watch = {
      window: new RestartWindow(),
      attempts: 0,
      successes: 0,
      failures: 0,
      unhealthyCount: 0,
      checkedMs: Number.NEGATIVE_INFINITY,
      dueMs: null,
      reason: null,
      lastAt: null,
      lastFailureReason: null,
      awaitingRecovery: false,
      suppressed: false,
      busy: false,
    };
    this.#watches.set(processName, created);
    return created;
  }
}
