// Watches a service that was just started until it is healthy.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '#core';
import type {} from '../process/contract.ts';
import { MigrationFault } from './migration-fault.ts';

const LIMIT_MS = 180_000;
const STEADY_MS = 15_000;
const POLL_MS = 250;
const PROBE_MS = 5_000;

interface Watch {
  /** Whether the service was started already. Otherwise the boot is about to start it. */
  readonly isStarted: boolean;
  readonly limitMs?: number;
  /** How long the service has to run without interruption. */
  readonly steadyMs?: number;
}

/**
 * Resolves when the process has run for `steadyMs` and is healthy, if its health is probed. Rejects with a
 * MigrationFault.
 */
export async function waitUntilHealthy(
  host: Host,
  processName: string,
  signal: AbortSignal,
  { isStarted, limitMs = LIMIT_MS, steadyMs = STEADY_MS }: Watch,
): Promise<void> {
  const supervisor = host.use('process.supervisor');
  const untilMs = performance.now() + limitMs;
  let steady: { readonly pid: number; readonly sinceMs: number } | undefined;
  let wasUp = isStarted;
  for (;;) {
    signal.throwIfAborted();
    const { pid = null, status = 'stopped', lastFailureReason, lastExit } = supervisor.get(processName) ?? {};
    if (pid !== null && steady?.pid !== pid) steady = { pid, sinceMs: performance.now() };
    if (pid === null) steady = undefined;
    wasUp ||= status === 'running';
    if (wasUp && (status === 'stopped' || status === 'stopping'))
      throw fault(`${processName} ended again: ${lastFailureReason ?? lastExit?.reason ?? 'without a reason'}`);
    const isSteady = steady !== undefined && performance.now() - steady.sinceMs >= host.paced(steadyMs);
    if (status === 'running' && isSteady) {
      const report = await supervisor.freshHealth(processName, PROBE_MS);
      if (report.status === null || report.status === 'healthy') return;
    }
    if (performance.now() > untilMs) throw fault(`${processName} was not healthy within ${limitMs / 1_000} s`);
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

function fault(message: string): MigrationFault {
  return new MigrationFault('starting', 'migration.start', message);
}
