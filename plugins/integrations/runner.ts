// Runs integrations, each once at a time for a target; requests during a run lead to one more run after it.
import { setTimeout as delay } from 'node:timers/promises';
import type { ContributionList, Host, NamedBlock } from '#core';
import { MAX_TIMER_MS } from '#kit/deadline';
import { WorkQueue } from '#kit/work-queue';
import type { HealthStatus } from '../process/contract.ts';
import type { Integration } from './contract.ts';

export interface IntegrationSettings {
  readonly disabled: readonly string[];
  readonly answerMs: number;
  readonly retryMs: number;
}

interface Run {
  /** Aborted when another run is requested, which then begins as soon as this one has ended or would pause. */
  readonly requested: AbortController;
}

const ATTEMPTS = 3;
const POLL_MS = 500;
const ANSWERS: readonly (HealthStatus | null)[] = ['healthy', 'degraded'];

export class IntegrationRunner {
  readonly #host: Host;
  readonly #settings: IntegrationSettings;
  readonly #integrations: ContributionList<Integration>;
  /** The runs in progress, by integration and target. */
  readonly #running = new Map<string, Run>();
  /** Queues by target, because two integrations that look for the same missing entry at once would both add it. */
  readonly #queues = new Map<string, WorkQueue>();

  constructor(host: Host, integrations: ContributionList<Integration>, settings: IntegrationSettings) {
    this.#host = host;
    this.#settings = settings;
    this.#integrations = integrations;
  }

  /** Returns at once; the integrations run in the background. */
  started(processName: string): void {
    const started = this.#host.use('config.store').findBlock(processName);
    if (started === undefined) return;
    for (const { key: name, value: integration } of this.#integrations) {
      if (this.#settings.disabled.includes(name)) continue;
      const isProvider = integration.providers.includes(started.configKey);
      const targets = isProvider ? this.#runningOf(integration.targets) : [];
      if (integration.targets.includes(started.configKey)) targets.push(started);
      for (const target of new Set(targets.map(block => block.processName))) void this.#run(name, integration, target);
    }
  }

  #runningOf(kinds: readonly string[]): NamedBlock[] {
    const supervisor = this.#host.find('process.supervisor');
    return this.#host
      .use('config.store')
      .blocks()
      .filter(({ configKey }) => kinds.includes(configKey))
      .filter(({ processName }) => supervisor?.get(processName)?.status === 'running');
  }

  async #run(name: string, integration: Integration, target: string): Promise<void> {
    const key = `${name} ${target}`;
    const present = this.#running.get(key);
    if (present !== undefined) {
      present.requested.abort();
      return;
    }
    let run: Run;
    do {
      run = { requested: new AbortController() };
      this.#running.set(key, run);
      await this.#attempts(name, integration, target, run);
    } while (run.requested.signal.aborted && !this.#host.signal.aborted);
    this.#running.delete(key);
  }

  async #attempts(name: string, integration: Integration, target: string, { requested }: Run): Promise<void> {
    const { signal, log } = this.#host;
    const either = AbortSignal.any([signal, requested.signal]);
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await this.#waitForAnswers(integration, target);
        const block = this.#host.use('config.store').findBlock(target);
        if (block === undefined || this.#host.find('process.supervisor')?.get(target)?.status !== 'running') return;
        await this.#queueOf(target).add(() => integration.apply(block, change => log.info(`${target}: ${change}`)));
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (attempt === ATTEMPTS) {
          log.warn(`${name} of ${target} could not be done; it is tried again when one of the two starts`, error);
          return;
        }
        log.debug(`${name} of ${target} failed and is tried again`, error);
        // What has started meanwhile may be what the attempt was missing.
        await delay(Math.min(this.#settings.retryMs, MAX_TIMER_MS), undefined, { signal: either, ref: false }).catch(
          () => undefined,
        );
        if (requested.signal.aborted) return;
      }
    }
  }

  #queueOf(target: string): WorkQueue {
    const known = this.#queues.get(target) ?? new WorkQueue({ concurrency: 1 });
    this.#queues.set(target, known);
    return known;
  }

  /** Waits, up to the limit, until the target and its running providers are healthy. */
  async #waitForAnswers({ providers }: Integration, target: string): Promise<void> {
    const supervisor = this.#host.find('process.supervisor');
    const deadline = performance.now() + this.#settings.answerMs;
    const waitsFor = (name: string): boolean => {
      const status = supervisor?.get(name)?.status;
      return (
        status === 'starting' || (status === 'running' && !ANSWERS.includes(supervisor?.health(name).status ?? null))
      );
    };
    const names = [target, ...this.#runningOf(providers).map(block => block.processName)];
    while (names.some(waitsFor) && performance.now() < deadline && !this.#host.signal.aborted)
      await delay(this.#host.paced(POLL_MS), undefined, { ref: false });
  }
}
