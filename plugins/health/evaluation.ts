// Evaluates the health of the whole service from reports that exist already; no process is probed for it.
import type { ConfigProblem, ContributionList, Host } from '#core';
import { descriptorShortage } from '#kit/descriptors';
import { namedReason } from '#kit/named-reason';
import type {} from '../health-probe/contract.ts';
import type { HealthReport, ProcessSnapshot, ProcessSupervisor, StartupPhase } from '../process/contract.ts';
import type { HealthNote } from './contract.ts';

export interface Evaluation {
  readonly phase: StartupPhase | 'ready';
  /** One sentence for each problem. */
  readonly failures: readonly string[];
  /** Paths of invalid values in the configuration, which do not make the host unhealthy. */
  readonly problems: readonly string[];
  /** Why a change of the configuration file is not in use, which does not make the host unhealthy; null otherwise. */
  readonly unusedChange: string | null;
  /** Notes of plugins, which do not make the host unhealthy. */
  readonly notes: readonly string[];
}

const NO_PROBLEMS: readonly ConfigProblem[] = [];
const STARTING: readonly string[] = ['initializing', 'preinstalling', 'starting_services', 'stabilizing'];

export class Evaluations {
  readonly #host: Host;
  readonly #notes: ContributionList<HealthNote>;
  #kept: { readonly basis: readonly unknown[]; readonly evaluation: Evaluation } | undefined;

  constructor(host: Host, notes: ContributionList<HealthNote>) {
    this.#host = host;
    this.#notes = notes;
  }

  /** The evaluation now; the same object until something that it depends on has changed. */
  current(): Evaluation {
    const own = this.#ownFailures();
    const store = this.#host.find('config.store');
    const problems = store?.problems ?? NO_PROBLEMS;
    const unusedChange = store?.unusedReason ?? null;
    const notes = [...this.#notes.values()].flatMap(note => textOf(note) ?? []);
    const supervisor = this.#host.find('process.supervisor');
    const probe = this.#host.find('process.health');
    const basis = [
      this.#host.stopping,
      own.join('\n'),
      problems,
      unusedChange,
      notes.join('\n'),
      supervisor,
      supervisor?.revision,
      supervisor?.blocks(),
      probe,
      probe?.revision,
    ];
    if (this.#kept?.basis.every((value, index) => value === basis[index]) !== true)
      this.#kept = {
        basis,
        evaluation: {
          ...this.#evaluate(own, supervisor),
          problems: problems.map(({ path }) => path),
          unusedChange,
          notes,
        },
      };
    return this.#kept.evaluation;
  }

  #evaluate(own: readonly string[], supervisor: ProcessSupervisor | undefined): Pick<Evaluation, 'phase' | 'failures'> {
    const startup = supervisor?.startup();
    if (this.#host.stopping !== null || startup?.phase === 'shutting_down')
      return { phase: 'shutting_down', failures: ['the service is shutting down'] };
    if (supervisor === undefined || startup === undefined) return { phase: 'ready', failures: own };
    if (STARTING.includes(startup.phase)) return { phase: startup.phase, failures: own };
    const expected = new Set(startup.expectedServices);
    const reasons = new Map(Object.entries(startup.failures));
    for (const process of supervisor.list()) {
      const { processName } = process;
      const reason = reasonNow(process, supervisor.health(processName), expected.has(processName));
      if (reason === null) reasons.delete(processName);
      else if (reason !== undefined) reasons.set(processName, reason);
    }
    // A reason that the host itself gives is not repeated for each service.
    const others = [...reasons].filter(([, reason]) => !own.includes(reason));
    return {
      phase: startup.phase,
      failures: [...own, ...others.map(([name, reason]) => namedReason(name, reason))],
    };
  }

  #ownFailures(): string[] {
    const faults = [this.#host.find('config.store')?.stateReason, descriptorShortage()];
    return [...faults.filter(fault => fault != null), ...this.#missingPlugins()];
  }

  #missingPlugins(): string[] {
    return this.#host
      .missingPlugins()
      .map(({ name, reason, state }) => `the required plugin ${name} is ${state}: ${reason ?? 'it is being set up'}`);
  }
}

/** Why a service fails; null when it does not, and undefined when what its start told about it still holds. */
function reasonNow(process: ProcessSnapshot, health: HealthReport, isExpected: boolean): string | null | undefined {
  const { enabled, stoppedByUser, wasReady, completed, held, status, lastExit } = process;
  const isWanted = enabled && !stoppedByUser && held === null;
  // A service started by hand that was never ready fails only in its own status, not here.
  const counts = isWanted && (wasReady || isExpected);
  if (!counts || completed === true || health.status === 'healthy' || health.status === 'degraded') return null;
  if (health.status === 'unhealthy') return health.reason ?? 'unhealthy';
  // A process that ended by itself has no health while the processes that it left behind are being ended.
  return status === 'stopping' && lastExit?.unexpected === true ? lastExit.reason : undefined;
}

function textOf(note: HealthNote): string | null {
  try {
    return note.text();
  } catch {
    // The host has logged this fault of the contribution.
    return null;
  }
}
