// The only place that probes running processes: each at most once in five seconds, eight at a time; the latest reports
// are kept. Processes that have nothing to probe take no turn in the queue.
import type { ContributionList, Host, NamedBlock } from '#core';
import { lacksDescriptors } from '#kit/descriptors';
import { isObject } from '#kit/plain-object';
import { redact } from '#kit/redact';
import { WorkQueue } from '#kit/work-queue';
import type { HealthReport, ProcessSnapshot } from '../process/contract.ts';
import type { ProcessHealth, ProcessProbe } from './contract.ts';
import { checkHealth, checksOf, type HealthChecks, RUNS, report } from './health-check.ts';

const INTERVAL_MS = 5_000;
const CONCURRENCY = 8;

interface Sample {
  readonly pid: number;
  readonly atMs: number;
  readonly health: HealthReport;
}

export class HealthSampler implements ProcessHealth {
  readonly #host: Host;
  readonly #onAnswer: (process: ProcessSnapshot, health: HealthReport) => void;
  readonly #probes: ContributionList<ProcessProbe>;
  readonly #samples = new Map<string, Sample>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #queue = new WorkQueue({ concurrency: CONCURRENCY });
  /**
   * The checks of each block for these probes; null when there is nothing to check. A changed block is another object.
   */
  #known: { readonly probes: readonly ProcessProbe[]; readonly checks: WeakMap<NamedBlock, HealthChecks | null> } = {
    probes: [],
    checks: new WeakMap(),
  };
  #revision = 0;

  constructor(
    host: Host,
    probes: ContributionList<ProcessProbe>,
    onAnswer: (process: ProcessSnapshot, health: HealthReport) => void,
  ) {
    this.#host = host;
    this.#onAnswer = onAnswer;
    this.#probes = probes;
    host.every(host.paced(INTERVAL_MS), () => this.#sampleAll());
  }

  get revision(): number {
    return this.#revision;
  }

  last(process: ProcessSnapshot): HealthReport | undefined {
    return this.#sampleOf(process)?.health;
  }

  async ask(process: ProcessSnapshot): Promise<HealthReport | undefined> {
    await this.#sample(process);
    return this.last(process);
  }

  /**
   * A process that has nothing to probe is healthy as soon as it runs, so that clients need not wait for the next
   * round.
   */
  seen(process: ProcessSnapshot): void {
    if (process.status !== 'running' || process.isHost || this.#sampleOf(process) !== undefined) return;
    if (this.#checksOf(process, this.#knownChecks()) === null) this.#keep(process, RUNS);
  }

  async isUp(process: ProcessSnapshot): Promise<boolean> {
    const health = await this.#queue.add(() => this.#check(process));
    if (health?.status !== 'healthy' || health.details?.probe === 'process') return false;
    this.#keep(process, health);
    return true;
  }

  #sampleOf({ processName, pid }: ProcessSnapshot): Sample | undefined {
    const sample = this.#samples.get(processName);
    return sample?.pid === pid ? sample : undefined;
  }

  async #sampleAll(): Promise<void> {
    const all = this.#host.find('process.supervisor')?.list() ?? [];
    const names = new Set(all.map(({ processName }) => processName));
    for (const name of this.#samples.keys()) if (!names.has(name)) this.#samples.delete(name);
    const running = all.filter(({ status, isHost }) => status === 'running' && !isHost);
    const known = this.#knownChecks();
    await Promise.all(running.map(process => this.#sample(process, known)));
  }

  #sample(process: ProcessSnapshot, known = this.#knownChecks()): Promise<void> {
    const { processName } = process;
    const sample = this.#sampleOf(process);
    const started = this.#running.get(processName);
    if (started !== undefined) return started;
    if (sample !== undefined && performance.now() - sample.atMs < this.#host.paced(INTERVAL_MS) / 2)
      return Promise.resolve();
    if (this.#checksOf(process, known) === null) {
      this.#keep(process, RUNS);
      return Promise.resolve();
    }
    const run = this.#queue.add(() => this.#probe(process)).finally(() => this.#running.delete(processName));
    this.#running.set(processName, run);
    return run;
  }

  async #probe(process: ProcessSnapshot): Promise<void> {
    const health = await this.#check(process);
    // The process was not asked, so the last report stays.
    if (health !== undefined) this.#keep(process, health);
  }

  #keep(process: ProcessSnapshot, health: HealthReport): void {
    const { processName, pid } = process;
    if (pid === null) return;
    const before = this.#sampleOf(process)?.health;
    this.#samples.set(processName, { pid, atMs: performance.now(), health });
    const hasChanged = before?.status !== health.status || before.reason !== health.reason;
    if (hasChanged) this.#revision += 1;
    if (hasChanged || !process.wasReady) this.#onAnswer(process, health);
  }

  /** undefined when the process could not be asked. */
  async #check(process: ProcessSnapshot): Promise<HealthReport | undefined> {
    const checks = this.#checksOf(process, this.#knownChecks());
    if (checks === undefined) return undefined;
    if (checks === null) return RUNS;
    return checkHealth(checks, this.#host.fetch).then(redacted, (error: unknown) =>
      lacksDescriptors(error)
        ? undefined
        : report('degraded', 'the health check itself failed', {
            probe: 'none',
            error_type: error instanceof Error ? error.name : 'Error',
          }),
    );
  }

  #knownChecks(): WeakMap<NamedBlock, HealthChecks | null> {
    const probes = [...this.#probes.values()];
    const { probes: before } = this.#known;
    const isSame = probes.length === before.length && probes.every((probe, index) => probe === before[index]);
    if (!isSame) this.#known = { probes, checks: new WeakMap() };
    return this.#known.checks;
  }

  /** null when there is nothing to check, undefined when the process is not there. */
  #checksOf(
    { processName, pid }: ProcessSnapshot,
    known: WeakMap<NamedBlock, HealthChecks | null>,
  ): HealthChecks | null | undefined {
    const block = this.#host.use('config.store').findBlock(processName);
    if (block === undefined || pid === null) return undefined;
    const before = known.get(block);
    if (before !== undefined) return before;
    const supervisor = this.#host.find('process.supervisor');
    if (supervisor === undefined) return undefined;
    const ports = [...supervisor.ports(processName).values()];
    const checks = checksOf({ block, ports, probes: this.#known.probes }) ?? null;
    known.set(block, checks);
    return checks;
  }
}

/** Masks secrets, because a report quotes the service and the requested address. */
function redacted(health: HealthReport): HealthReport {
  const { reason, details } = health;
  return {
    ...health,
    reason: reason === null ? null : redact(reason),
    details: details === null ? null : (redactedTexts(details) as Record<string, unknown>),
  };
}

function redactedTexts(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactedTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redactedTexts(member)]));
}
