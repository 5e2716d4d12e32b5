// Starts the processes of a request one after the other; a failure does not prevent the other starts.
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '#kit/error-text';
import { unnamedReason } from '#kit/named-reason';
import type { Installs } from '../installs/contract.ts';
import type { ProcessSupervisor } from '../process/contract.ts';
import type { Unit } from './candidate.ts';
import type { StartAnswer } from './wire.ts';

/** A start that waits longer than this for other processes continues in the background, as a start by hand does. */
const WAIT_LIMIT_MS = 300_000;
const POLL_MS = 500;

type Outcome = Pick<StartAnswer, 'results' | 'errors'>;

export class Starter {
  readonly #supervisor: ProcessSupervisor;
  readonly #installs: () => Installs | undefined;
  readonly #by: string;
  /** The outcome of each process: null when it was started, otherwise the reason why not. */
  readonly #outcomes = new Map<string, Promise<string | null>>();
  readonly #needs: ReadonlyMap<string, ReadonlySet<string>>;

  /**
   * `needs` maps each process to the enabled processes after which it starts, without cycles. `by` is the name of the
   * user who asks.
   */
  constructor(
    supervisor: ProcessSupervisor,
    installs: () => Installs | undefined,
    needs: ReadonlyMap<string, ReadonlySet<string>>,
    by: string,
  ) {
    this.#supervisor = supervisor;
    this.#installs = installs;
    this.#needs = needs;
    this.#by = by;
  }

  async run(units: readonly Unit[]): Promise<Outcome> {
    const answer: Outcome = { results: [], errors: [] };
    this.#installMissing(units);
    for (const unit of units) await this.#runUnit(unit, answer);
    return answer;
  }

  /**
   * Begins to install all missing programs at once instead of each before its start. A failure is not reported here:
   * the start of that process reports it.
   */
  #installMissing(units: readonly Unit[]): void {
    const names = new Set(units.flatMap(({ before, main, after }) => [...before, ...main, ...after]));
    const chosen = this.#supervisor.blocks().filter(({ processName }) => names.has(processName));
    this.#installs()
      ?.installMissing(chosen)
      .catch(() => undefined);
  }

  async #runUnit({ service, before, main, after }: Unit, { results, errors }: Outcome): Promise<void> {
    // A process that only the dependency graph names may fail to start: the service may work without it.
    for (const name of this.#prerequisites([...main, ...before])) {
      if (!main.includes(name) && !after.includes(name)) await this.#start(name);
    }
    for (const component of before) {
      const reason = await this.#start(component);
      if (reason === null) continue;
      errors.push({
        service,
        error: `${component} is needed and did not start: ${unnamedReason(component, reason)}`,
        component,
      });
      return;
    }
    let started = 0;
    for (const processName of main) {
      const reason = await this.#start(processName);
      if (reason === null) started += 1;
      else errors.push({ service, error: reason, component: null });
    }
    if (started === 0) return;
    results.push({ service, status: 'started' });
    for (const component of after) {
      const reason = await this.#start(component);
      if (reason !== null)
        errors.push({ service, error: `${component} did not start: ${unnamedReason(component, reason)}`, component });
    }
  }

  /** Everything that these processes need, directly or indirectly, in start order. */
  #prerequisites(names: readonly string[]): ReadonlySet<string> {
    const ordered = new Set<string>();
    const visit = (name: string): void => {
      for (const needed of this.#needs.get(name) ?? []) {
        if (ordered.has(needed)) continue;
        visit(needed);
        ordered.add(needed);
      }
    };
    for (const name of names) visit(name);
    return ordered;
  }

  #start(processName: string): Promise<string | null> {
    const known = this.#outcomes.get(processName) ?? this.#launch(processName);
    this.#outcomes.set(processName, known);
    return known;
  }

  async #launch(processName: string): Promise<string | null> {
    const given = new AbortController();
    const start = this.#supervisor.start(processName, 'request', this.#by).then(
      () => null,
      (error: unknown) => errorText(error),
    );
    try {
      return await Promise.race([start, this.#waitedTooLong(processName, given.signal)]);
    } finally {
      given.abort();
    }
  }

  /** Resolves with a reason when the start has waited for other processes for too long. */
  async #waitedTooLong(processName: string, signal: AbortSignal): Promise<string | null> {
    let waitingSinceMs: number | undefined;
    for (;;) {
      await delay(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return null;
      const { waitingFor = [] } = this.#supervisor.get(processName) ?? {};
      const now = performance.now();
      // A wait for an installation does not count, because that ends by itself.
      const waits = waitingFor.length > 0 && this.#installs()?.progress(processName) === undefined;
      waitingSinceMs = waits ? (waitingSinceMs ?? now) : undefined;
      if (waitingSinceMs !== undefined && now - waitingSinceMs >= WAIT_LIMIT_MS)
        return `it still waits for ${waitingFor.join(', ')} and starts when that is there`;
    }
  }
}
