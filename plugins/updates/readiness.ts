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
    const found = await readinessOf(host, processName);
    const nowMs = performance.now();
    if (found === 'completed') return firstReadyMs ?? nowMs;
    readySinceMs = found.isReady ? (readySinceMs ?? nowMs) : undefined;
    firstReadyMs ??= readySinceMs;
    if (readySinceMs !== undefined && nowMs - readySinceMs >= host.paced(STABLE_MS))
      return firstReadyMs ?? readySinceMs;
    if (!found.isReady && nowMs > limitMs)
      throw new Error(`${processName} was not ready within ${READY_MS / 1_000} s: ${found.reason}`);
    await delay(host.paced(POLL_MS), undefined, { signal });
  }
}

/**
 * `completed` for a one-shot service that has done its work. Throws an Error for a process that has ended otherwise.
 */
async function readinessOf(
  host: Host,
  processName: string,
): Promise<{ readonly isReady: boolean; readonly reason: string } | 'completed'> {
  const supervisor = host.use('process.supervisor');
  const process = supervisor.get(processName);
  if (process?.status === 'stopped' && process.completed === true) return 'completed';
  if (process?.status !== 'running') throw new Error(`${processName} ended again: ${whyNot(process)}`);
  await host.find('process.health')?.ask(process);
  const { status, reason } = supervisor.health(processName);
  return { isReady: status === 'healthy' || status === 'degraded', reason: reason ?? 'it gives no reason' };
}

function whyNot(process: ProcessSnapshot | undefined): string {
  return process?.lastFailureReason ?? process?.lastExit?.reason ?? 'it does not run any more';
}
