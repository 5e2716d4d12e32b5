// Watches a service that was just started until it is healthy.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '#core';
import type { ProcessSnapshot, ProcessSupervisor } from '../process/contract.ts';
import { MigrationFault } from './migration-fault.ts';

const LIMIT_MS = 180_000;
const STEADY_MS = 15_000;
const POLL_MS = 250;
const PROBE_MS = 5_000;
const ENDED: readonly ProcessSnapshot['status'][] = ['stopped', 'stopping'];

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
    const process = supervisor.get(processName);
    const { pid = null, status = 'stopped' } = process ?? {};
    if (pid === null) steady = undefined;
    else if (steady?.pid !== pid) steady = { pid, sinceMs: performance.now() };
    wasUp ||= status === 'running';
    if (wasUp && ENDED.includes(status)) throw fault(`${processName} ended again: ${reasonOf(process)}`);
    const isSteady = steady !== undefined && performance.now() - steady.sinceMs >= host.paced(steadyMs);
    if (status === 'running' && isSteady && (await isHealthy(supervisor, processName))) return;
    if (performance.now() > untilMs) throw fault(`${processName} was not healthy within ${limitMs / 1_000} s`);
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

function reasonOf(process: ProcessSnapshot | undefined): string {
  return process?.lastFailureReason ?? process?.lastExit?.reason ?? 'without a reason';
}

/** True also for a process whose health nothing probes. */
async function isHealthy(supervisor: ProcessSupervisor, processName: string): Promise<boolean> {
  const { status } = await supervisor.freshHealth(processName, PROBE_MS);
  return status === null || status === 'healthy';
}

function fault(message: string): MigrationFault {
  return new MigrationFault('starting', 'migration.start', message);
}
