// What is wrong at this moment, from the answers that the supervisor's sampler keeps; no program is run for it.
import type { Host } from '#core';
import type { StartupPhase } from '../process/contract.ts';

export interface Evaluation {
  readonly phase: StartupPhase | 'ready';
  /** One sentence for each thing that is wrong. */
  readonly failures: readonly string[];
}

const STARTING: readonly string[] = ['initializing', 'preinstalling', 'starting_services', 'stabilizing'];

export async function evaluate(host: Host): Promise<Evaluation> {
  const store = host.find('config.store');
  const config = store?.stateReason == null ? [] : [store.stateReason];
  const supervisor = host.find('process.supervisor');
  if (supervisor === undefined) return { phase: 'ready', failures: config };
  const { phase, failures } = supervisor.startup();
  if (host.stopping !== null || phase === 'shutting_down') {
    return { phase: 'shutting_down', failures: ['the service is shutting down'] };
  }
  if (STARTING.includes(phase)) return { phase, failures: config };
  const enabled = new Set(
    store
      ?.blocks()
      .filter(({ block }) => block.enabled === true)
      .map(({ processName }) => processName),
  );
  const unwell = supervisor
    .list()
    .filter(
      ({ processName, stoppedByUser, status }) => status === 'running' || (enabled.has(processName) && !stoppedByUser),
    )
    .flatMap(({ processName }) => {
      const { status, reason } = supervisor.health(processName);
      return status === 'unhealthy' ? [`${processName}: ${reason ?? 'unhealthy'}`] : [];
    });
  const named = new Set(unwell.map(text => text.split(':')[0]));
  const started = Object.entries(failures)
    .filter(([name]) => !named.has(name))
    .map(([name, reason]) => `${name}: ${reason}`);
  return { phase, failures: [...config, ...unwell, ...started] };
}
