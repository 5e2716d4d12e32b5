// The phases of a boot, from initializing to ready or degraded, and the state of each expected service.
import { setTimeout as delay } from 'node:timers/promises';
import { ticksNow, timeAt } from '#kit/boot-clock';
import { MAX_TIMER_MS } from '#kit/deadline';
import type { StartupPhase, StartupReport, StartupService } from '../contract.ts';
import type { StartupSettings } from '../settings.ts';
import { BootTimeline } from './boot-timeline.ts';

const TERMINAL: readonly StartupPhase[] = ['ready', 'degraded', 'shutting_down'];

export interface ReadinessSource {
  /** Whether the process runs and its health is healthy or degraded. */
  ready(processName: string): Promise<boolean> | boolean;
  /**
   * Why the process ended by itself; null when it has not, or is not down. Nothing starts it again before the boot is
   * over.
   */
  endedBy(processName: string): string | null;
  /**
   * Whether the process no longer counts, because it was stopped by a user, disabled or removed from the configuration.
   */
  excused(processName: string): boolean;
}

export class Startup {
  readonly #startTicks = ticksNow();
  readonly #onPhase: (report: StartupReport) => void;
  #phase: StartupPhase = 'initializing';
  #completedTicks: number | null = null;
  #completedMs: number | null = null;
  #expected: readonly string[] = [];
  readonly #services = new Map<string, StartupService>();
  readonly #failures = new Map<string, string>();
  readonly #needs = new Map<string, readonly string[]>();
  readonly #timeline = new BootTimeline();
  #revision = 0;

  constructor(onPhase: (report: StartupReport) => void) {
    this.#onPhase = onPhase;
  }

  get phase(): StartupPhase {
    return this.#phase;
  }

  get terminal(): boolean {
    return TERMINAL.includes(this.#phase);
  }

  /** Monotonic milliseconds at which a terminal phase was first reached, or null. */
  get completedMs(): number | null {
    return this.#completedMs;
  }

  /** A number that changes with the phase, the services and the failures of the report. */
  get revision(): number {
    return this.#revision;
  }

  report(): StartupReport {
    return {
      phase: this.#phase,
      terminal: this.terminal,
      startedAt: timeAt(this.#startTicks),
      completedAt: this.#completedTicks === null ? null : timeAt(this.#completedTicks),
      expectedServices: this.#expected,
      services: Object.fromEntries(
        [...this.#services].map(([name, service]) => [name, this.#withMissingNeeds(name, service)]),
      ),
      failures: Object.fromEntries(this.#failures),
      criticalChain: this.#timeline.criticalChain(),
    };
  }

  expect(processNames: readonly string[]): void {
    this.#expected = [...processNames];
    for (const name of processNames) this.#enterService(name, 'pending');
  }

  /** Called when everything that the process needs is ready, or will not become ready. */
  begin(processName: string, needs: readonly string[]): void {
    this.#revision += 1;
    this.#needs.set(processName, needs);
    // Later starts did not delay the boot.
    if (this.#completedTicks === null) this.#timeline.begin(processName, needs);
  }

  /** Called when the process is up, or its failure is final. */
  end(processName: string): void {
    this.#timeline.end(processName);
  }

  enter(phase: StartupPhase): void {
    if (this.#phase === phase || this.#phase === 'shutting_down') return;
    this.#revision += 1;
    this.#phase = phase;
    if (this.terminal && this.#completedTicks === null) {
      this.#completedTicks = ticksNow();
      this.#completedMs = performance.now();
    }
    this.#onPhase(this.report());
  }

  /** Goes from one phase to the next, unless a later one was entered meanwhile. */
  leave(phase: StartupPhase, next: StartupPhase): void {
    if (this.#phase === phase) this.enter(next);
  }

  mark(processName: string, state: 'starting' | 'ready' | 'failed', reason: string | null = null): void {
    if (!this.#services.has(processName)) return;
    this.#enterService(processName, state, reason);
    if (state === 'failed') this.#failures.set(processName, reason ?? 'failed to start');
    else this.#failures.delete(processName);
  }

  /** Records a failure of the boot itself. */
  fail(reason: string): void {
    this.#revision += 1;
    this.#failures.set('startup', reason);
  }

  /** Removes the failure that `fail` recorded. */
  mend(): void {
    this.#revision += 1;
    this.#failures.delete('startup');
  }

  /** Waits until every expected service, if any, has been ready without interruption for the stabilization time. */
  async stabilize(settings: StartupSettings, source: ReadinessSource, signal: AbortSignal): Promise<void> {
    if (this.#expected.length === 0) return;
    this.enter('stabilizing');
    const deadline = performance.now() + settings.readinessTimeoutMs;
    let stableSince: number | undefined;
    while (!signal.aborted) {
      const allReady = await this.#look(source);
      const now = performance.now();
      stableSince = allReady ? (stableSince ?? now) : undefined;
      if (stableSince !== undefined && now - stableSince >= settings.stabilizationMs) return;
      if (now >= deadline) return this.#giveUp(source);
      const untilStable = stableSince === undefined ? settings.pollMs : settings.stabilizationMs - (now - stableSince);
      const pauseMs = Math.max(1, Math.min(settings.pollMs, untilStable, deadline - now, MAX_TIMER_MS));
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Removes failures that no longer apply; a degraded start without failures becomes ready. */
  async review(source: ReadinessSource): Promise<void> {
    for (const name of this.#failures.keys()) {
      const excused = source.excused(name);
      if (excused || (await source.ready(name))) this.#recover(name, excused ? 'pending' : 'ready');
    }
    if (this.#phase === 'degraded' && this.#failures.size === 0) this.enter('ready');
  }

  /** Removes the failure of a service that is ready, or no longer counts. */
  #recover(processName: string, state: 'pending' | 'ready'): void {
    this.#revision += 1;
    this.#failures.delete(processName);
    if (this.#services.has(processName)) this.#enterService(processName, state);
  }

  #enterService(processName: string, state: StartupService['state'], reason: string | null = null): void {
    this.#revision += 1;
    this.#services.set(processName, { state, reason });
  }

  /** Adds the failures of needed services to the reason, because they explain why this one fails or is limited. */
  #withMissingNeeds(processName: string, { state, reason }: StartupService): StartupService {
    const missing = this.#needs.get(processName)?.filter(name => this.#failures.has(name)) ?? [];
    if (missing.length === 0) return { state, reason };
    const needs = `it needs ${missing.join(', ')}, which failed`;
    return { state, reason: reason === null ? needs : `${reason}; ${needs}` };
  }

  async #look(source: ReadinessSource): Promise<boolean> {
    let allReady = true;
    for (const [name, { state }] of this.#services) if (!(await this.#update(name, state, source))) allReady = false;
    return allReady;
  }

  /** Brings the state of a service up to date. False when it must still become ready. */
  async #update(name: string, state: StartupService['state'], source: ReadinessSource): Promise<boolean> {
    if (source.excused(name)) {
      if (state === 'failed') this.#recover(name, 'pending');
      return true;
    }
    if (await source.ready(name)) {
      this.mark(name, 'ready');
      return true;
    }
    if (state === 'failed') return true;
    if (state === 'ready') this.#enterService(name, 'starting');
    const end = source.endedBy(name);
    if (end !== null) this.mark(name, 'failed', end);
    return end !== null;
  }

  #giveUp(source: ReadinessSource): void {
    for (const [name, { state, reason }] of this.#services) {
      if (state !== 'ready' && !source.excused(name)) this.mark(name, 'failed', reason ?? 'not ready in time');
    }
  }
}
