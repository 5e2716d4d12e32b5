// Waits until a service that was just started is ready and stays so.
import { setTimeout as delay } from 'node:timers/promises';
import type { Host } from '#core';
import type {} from '../health-probe/contract.ts';
import type { ProcessSnapshot } from '../process/contract.ts';

const READY_MS = 120_000;
const STABLE_MS = 15_000;
const POLL_MS = 250;

/**
 * Resolves when the process has been ready without a break for 15 s, with the monotonic time in milliseconds at which
 * it was first ready; for a one-shot service at once when it has done its work. Rejects with an Error that says why
 * when it ends otherwise, or is not ready after 120 s.
 */
export async function untilReady(host: Host, processName: string, signal: AbortSignal): Promise<number> {
  const limitMs = performance.now() + host.paced(READY_MS);
  let readySinceMs: number | undefined;
  let firstReadyMs: number | undefined;
  for (;;) {
    signal.throwIfAborted();
    const supervisor = host.use('process.supervisor');
    const process = supervisor.get(processName);
    if (process?.status === 'stopped' && process.completed === true) return firstReadyMs ?? performance.now();
    if (process?.status !== 'running') throw new Error(`${processName} ended again: ${whyNot(process)}`);
    await host.find('process.health')?.ask(process);
    const { status, reason } = supervisor.health(processName);
    const nowMs = performance.now();
    if (status === 'healthy' || status === 'degraded') {
      readySinceMs ??= nowMs;
      firstReadyMs ??= nowMs;
      if (nowMs - readySinceMs >= host.paced(STABLE_MS)) return firstReadyMs;
    } else {
      readySinceMs = undefined;
      if (nowMs > limitMs)
        throw new Error(`${processName} was not ready within ${READY_MS / 1_000} s: ${reason ?? 'it gives no reason'}`);
    }
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

function whyNot(process: ProcessSnapshot | undefined): string {
  return process?.lastFailureReason ?? process?.lastExit?.reason ?? 'it does not run any more';
}
