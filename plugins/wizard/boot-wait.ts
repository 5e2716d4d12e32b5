// Waits until the boot has started the services that were configured before this request.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '#core';
import type { ProcessSupervisor } from '../process/contract.ts';

const BOOT_PATIENCE_MS = 120_000;
const POLL_MS = 250;

/**
 * Resolves at the end of a boot in progress, whose services the chosen ones may need; after two minutes, with a warning
 * in the log; or at a shutdown.
 */
export async function untilBooted(supervisor: ProcessSupervisor, host: Host): Promise<void> {
  const { log, signal } = host;
  const deadline = performance.now() + BOOT_PATIENCE_MS;
  let isTold = false;
  while (!supervisor.startup().terminal && host.stopping === null) {
    const { services, phase } = supervisor.startup();
    const waited = Object.keys(services).filter(name => services[name]?.state !== 'ready');
    const line = `${waited.join(', ') || phase}; /process/startup-status says why`;
    if (performance.now() >= deadline) {
      log.warn(`onboarding starts its services although the start of others is not over: ${line}`);
      return;
    }
    if (!isTold) log.info(`onboarding waits until the start of other services is over: ${line}`);
    isTold = true;
    await delay(POLL_MS, undefined, { signal, ref: false }).catch((error: unknown) => {
      if (host.stopping === null) throw error;
    });
  }
}
