// Restarts services that ended or stay unhealthy. One timer decides for all of them, but a service that ended and has
// no delay is restarted at once. Every attempt counts, and a stop by a user wins.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Host } from '#core';
import { errorText } from '#kit/error-text';
import { unnamedReason } from '#kit/named-reason';
import type { ExitRecord, ProcessSnapshot } from '../process/contract.ts';
import type { ProcessRestarts, RestartReport } from './contract.ts';
import { limitsOf, type Policies, type Policy, policiesOf } from './policies.ts';
import type { AutoRestartSettings } from './settings.ts';
import { Watch } from './watch.ts';

const TICK_MS = 1_000;
const MS_PER_S = 1_000;

export class AutoRestart implements ProcessRestarts {
  readonly #host: Host;
  readonly #settings: () => AutoRestartSettings;
  readonly #watches = new Map<string, Watch>();

  constructor(host: Host, settings: () => AutoRestartSettings) {
    this.#host = host;
    this.#settings = settings;
    host.every(host.paced(TICK_MS), () => this.#tick());
  }

  report(processName: string): RestartReport {
    return this.#watch(processName).report(this.#policy(processName));
  }

  restart(processName: string, reason: string): void {
    const watch = this.#watch(processName);
    if (watch.busy || watch.dueMs !== null) return;
    watch.isAsked = true;
    this.#plan(processName, reason);
  }

  async exited({ processName }: ProcessSnapshot, exit: ExitRecord): Promise<void> {
    if (!exit.unexpected) return;
    const watch = this.#watch(processName);
    if (exit.code === 0 && this.#policy(processName)?.onlyFailures) {
      this.#host.log.info(`${processName} ended with exit code 0 and is not restarted: its restart is on-failure`);
      return;
    }
    if (watch.awaitingRecovery) this.#failed(processName, watch, exit.reason);
    // The end is announced when the output was read, and a user may have stopped the process since it ended.
    const isStopped = this.#host.find('process.supervisor')?.get(processName)?.stoppedByUser === true;
    if (watch.busy || isStopped) return;
    this.#plan(processName, exit.reason);
    await this.#lookSoon(processName);
  }

  /** A restart without a delay does not wait for the timer, but for all taps of the exit to be called. */
  async #lookSoon(processName: string): Promise<void> {
    await nextTurn();
    const supervisor = this.#host.find('process.supervisor');
    const settledMs = supervisor?.settledMs ?? null;
    const snapshot = supervisor?.get(processName);
    if (settledMs === null || this.#host.stopping !== null || this.#host.signal.aborted) return;
    if (snapshot?.status === 'stopped') this.#look(snapshot, settledMs);
  }

  #tick(): void {
    const supervisor = this.#host.use('process.supervisor');
    const { settledMs } = supervisor;
    if (settledMs === null || this.#host.stopping !== null) return;
    if (this.#policies().size === 0 && ![...this.#watches.values()].some(({ isAsked }) => isAsked)) {
      for (const watch of this.#watches.values()) watch.cancel();
      return;
    }
    const all = supervisor.list();
    this.#forgetOthers(all);
    for (const snapshot of all) this.#look(snapshot, settledMs);
  }

  /** `settledMs` is the monotonic time at which the boot was over. */
  #look(snapshot: ProcessSnapshot, settledMs: number): void {
    const { processName } = snapshot;
    const watch = this.#watchOf(snapshot);
    const policy = this.#policy(processName);
    if (policy === undefined || snapshot.stoppedByUser || !snapshot.enabled) {
      watch.cancel();
      return;
    }
    // The holder of a process may stop it on purpose; a restart that is due waits until the hold ends.
    if (snapshot.held !== null) return;
    const now = performance.now();
    if (snapshot.completed === true && snapshot.status === 'stopped') this.#markHealthy(processName, watch);
    // While a restart is under way, the process that still runs is about to end. A start by others is let be.
    if (watch.busy || snapshot.status === 'starting') return;
    this.#followLimit(processName, watch, policy, now);
    if (snapshot.status === 'running') {
      if (watch.dueMs !== null && watch.plannedPid !== snapshot.pid) watch.cancelPlan();
      this.#check(snapshot, watch, policy, now, settledMs);
    } else if (snapshot.status === 'stopped' && watch.dueMs === null) this.#considerStopped(snapshot);
    if (watch.dueMs !== null && now >= watch.dueMs) void this.#attempt(snapshot, watch, policy);
  }

  /** A limit that was raised counts at once for a process that waits until its window opens. */
  #followLimit(processName: string, watch: Watch, policy: Policy, now: number): void {
    if (!watch.suppressed || watch.dueMs === null || now >= watch.dueMs) return;
    if (watch.window.decide(now, policy).kind === 'suppressed') return;
    watch.dueMs = null;
    this.#plan(processName, watch.reason);
  }

  /** Plans a restart for an enabled process that ended or failed to start, also during the boot. */
  #considerStopped({ processName, lastExit, lastFailureReason }: ProcessSnapshot): void {
    if (lastExit?.code === 0 && this.#policy(processName)?.onlyFailures) return;
    const reason = lastFailureReason ?? (lastExit?.unexpected === true ? lastExit.reason : null);
    if (reason !== null) this.#plan(processName, reason);
  }

  #check(snapshot: ProcessSnapshot, watch: Watch, policy: Policy, now: number, settledMs: number): void {
    const { processName } = snapshot;
    const graceFrom = Math.max(snapshot.startedMonotonicMs ?? 0, settledMs);
    const isChecked = policy.onUnhealthy && policy.checkEveryMs > 0 && now - graceFrom >= policy.graceMs;
    const isDue = isChecked && now - watch.checkedMs >= policy.checkEveryMs;
    if (!isDue && !watch.hopesForHealth) return;
    const { status, reason } = this.#host.use('process.supervisor').health(processName);
    // The plugin that asked for a restart knows better than the health report.
    const isDoubted = watch.isAsked && watch.dueMs !== null;
    if (status === 'healthy' && !isDoubted) this.#markHealthy(processName, watch);
    if (!isDue) return;
    watch.checkedMs = now;
    if (status === 'unhealthy') watch.unhealthyCount += 1;
    else if (status !== 'starting') watch.unhealthyCount = 0;
    if (watch.unhealthyCount < policy.threshold || watch.dueMs !== null) return;
    watch.unhealthyCount = 0;
    const text = reason ?? 'unhealthy';
    this.#host.log.warn(`${processName} was unhealthy ${policy.threshold} times in a row: ${text}`);
    this.#host.emit('service.unhealthy', { processName, reason: text, threshold: policy.threshold });
    if (watch.awaitingRecovery) this.#failed(processName, watch, text);
    this.#plan(processName, text);
  }

  #plan(processName: string, reason: string): void {
    const policy = this.#policy(processName);
    const watch = this.#watch(processName);
    if (policy === undefined || watch.dueMs !== null) return;
    const now = performance.now();
    const decision = watch.window.decide(now, policy);
    const { status, pid = null } = this.#host.use('process.supervisor').get(processName) ?? {};
    watch.reason = reason;
    watch.plannedPid = pid;
    if (decision.kind === 'after') {
      watch.dueMs = now + decision.delayMs;
      watch.suppressed = false;
      return;
    }
    // A process that still runs is left alone: it may recover, and counts anew, or is asked for again, if it does not.
    if (status === 'running') watch.isAsked = false;
    else watch.dueMs = now + decision.delayMs;
    if (!watch.suppressed) {
      const limit = `${policy.maxRestarts} restarts within ${policy.windowMs / MS_PER_S} s`;
      this.#host.log.warn(
        `${processName} is not restarted, the limit of ${limit} is reached: ${unnamedReason(processName, reason)}`,
      );
      this.#host.emit('service.auto_restart.suppressed', { processName, reason });
    }
    watch.suppressed = true;
  }

  async #attempt(snapshot: ProcessSnapshot, watch: Watch, policy: Policy): Promise<void> {
    const { processName } = snapshot;
    const supervisor = this.#host.use('process.supervisor');
    const { log } = this.#host;
    // Since this was planned the limit may have been lowered, or the window may still be full.
    const decision = watch.window.decide(performance.now(), policy);
    watch.dueMs = null;
    if (decision.kind === 'suppressed') return this.#plan(processName, watch.reason);
    watch.busy = true;
    watch.window.record(performance.now());
    watch.attempts += 1;
    watch.unhealthyCount = 0;
    const { reason } = watch;
    const attempt = watch.window.recent(performance.now(), policy.windowMs);
    log.info(
      `${processName} is restarted, attempt ${attempt} of ${policy.maxRestarts}: ${unnamedReason(processName, reason)}`,
    );
    this.#host.emit('service.auto_restart.attempt', { processName, reason, attempt });
    try {
      await supervisor.restart(processName, 'auto-restart', this.#host.name);
      watch.awaitingRecovery = true;
    } catch (error) {
      if (this.#host.signal.aborted || this.#host.stopping !== null) return;
      if (supervisor.get(processName)?.stoppedByUser !== false) return;
      const failure = errorText(error);
      this.#failed(processName, watch, failure);
      this.#plan(processName, failure);
    } finally {
      watch.busy = false;
    }
    if (watch.dueMs !== null) await this.#lookSoon(processName);
  }

  /** A healthy answer confirms a recovery, ends an episode and makes a planned restart unnecessary. */
  #markHealthy(processName: string, watch: Watch): void {
    watch.cancelPlan();
    watch.lastFailureReason = null;
    if (!watch.awaitingRecovery) return;
    watch.awaitingRecovery = false;
    watch.suppressed = false;
    watch.successes += 1;
    watch.lastAt = Date.now() / MS_PER_S;
    this.#host.log.info(`${processName} is healthy again after its restart`);
    this.#host.emit('service.auto_restart.succeeded', { processName });
  }

  #failed(processName: string, watch: Watch, reason: string): void {
    watch.awaitingRecovery = false;
    watch.failures += 1;
    watch.lastFailureReason = reason;
    this.#host.log.warn(`the restart of ${processName} failed: ${unnamedReason(processName, reason)}`);
    this.#host.emit('service.auto_restart.failed', { processName, reason });
  }

  /**
   * The policy of a service. A service without one has the limits of the section while a restart of it is asked for.
   */
  #policy(processName: string): Policy | undefined {
    const isAsked = this.#watches.get(processName)?.isAsked === true;
    return this.#policies().get(processName) ?? (isAsked ? limitsOf(this.#settings()) : undefined);
  }

  #policies(): Policies {
    return policiesOf(this.#settings(), this.#host.use('config.store'));
  }

  #watch(processName: string): Watch {
    const snapshot = this.#host.find('process.supervisor')?.get(processName);
    return this.#watchOf(snapshot ?? { processName, wanted: null });
  }

  #watchOf({ processName, wanted }: Pick<ProcessSnapshot, 'processName' | 'wanted'>): Watch {
    const watch = this.#watches.get(processName) ?? new Watch(wanted);
    this.#watches.set(processName, watch);
    watch.applyWanted(wanted);
    return watch;
  }

  #forgetOthers(present: readonly ProcessSnapshot[]): void {
    const names = new Set(present.map(({ processName }) => processName));
    for (const name of this.#watches.keys()) if (!names.has(name)) this.#watches.delete(name);
  }
}
