// Evaluates the health of the whole service from reports that exist already; no process is probed for it.
import type { Host } from '#core';
import { descriptorShortage } from '#kit/descriptors';
import type { StartupPhase } from '../process/contract.ts';

export interface Evaluation {
  readonly phase: StartupPhase | 'ready';
  /** One sentence for each problem. */
  readonly failures: readonly string[];
}

const STARTING: readonly string[] = ['initializing', 'preinstalling', 'starting_services', 'stabilizing'];

export function evaluate(host: Host): Evaluation {
  const supervisor = host.find('process.supervisor');
  const startup = supervisor?.startup();
  if (host.stopping !== null || startup?.phase === 'shutting_down') {
    return { phase: 'shutting_down', failures: ['the service is shutting down'] };
  }
  const store = host.find('config.store');
  const faults = [store?.stateReason, descriptorShortage()].filter(fault => fault != null);
  const own = [...faults, ...missingPlugins(host)];
  if (supervisor === undefined || startup === undefined) return { phase: 'ready', failures: own };
  if (STARTING.includes(startup.phase)) return { phase: startup.phase, failures: own };
  const expected = new Set(startup.expectedServices);
  const reasons = new Map(Object.entries(startup.failures));
  for (const { processName, enabled, stoppedByUser, wasReady, held } of supervisor.list()) {
    const isWanted = enabled && !stoppedByUser && held === null;
    // A service started by hand that was never ready fails only in its own status, not here.
    const counts = isWanted && (wasReady || expected.has(processName));
    const health = supervisor.health(processName);
    if (!counts || health.status === 'healthy' || health.status === 'degraded') reasons.delete(processName);
    else if (health.status === 'unhealthy') reasons.set(processName, health.reason ?? 'unhealthy');
  }
  return { phase: startup.phase, failures: [...own, ...[...reasons].map(([name, reason]) => `${name}: ${reason}`)] };
}

/** Required plugins that are not ready, which the host is setting up again. */
function missingPlugins(host: Host): string[] {
  return host
    .plugins()
    .filter(({ required, state }) => required && state !== 'ready' && state !== 'disabled')
    .map(({ name, reason, state }) => `the required plugin ${name} is ${state}: ${reason ?? 'it is being set up'}`);
}
