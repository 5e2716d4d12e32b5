// Reads logs in a thread of its own, which ends at the latest with the diagnosis.
import { startWorker } from '#kit/worker';
import type { LogReply, LogWork } from './log-worker.ts';

const MEMORY_MB = 256;
const YOUNG_MB = 16;

/** The result of one work, or why there is none. */
export type LogResult = { readonly result: unknown } | { readonly error: string };

/**
 * Gives the results in the order of `work`. Resolves also when the thread ends early or the signal fires; work that was
 * not done then has an error.
 */
export function readInThread(work: readonly LogWork[], signal: AbortSignal): Promise<LogResult[]> {
  const results: LogResult[] = work.map(() => ({ error: 'the log was not read in time' }));
  if (work.length === 0 || signal.aborted) return Promise.resolve(results);
  return new Promise(resolve => {
    const worker = startWorker('log-worker', import.meta.url, {
      name: 'logs',
      workerData: work,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const end = (): void => void worker.terminate();
    signal.addEventListener('abort', end, { once: true });
    worker.on('message', ({ index, ...reply }: LogReply) => {
      results[index] = reply;
    });
    worker.on('error', error => {
      for (const [index, known] of results.entries()) if ('error' in known) results[index] = { error: error.message };
    });
    worker.on('exit', () => {
      signal.removeEventListener('abort', end);
      resolve(results);
    });
  });
}
