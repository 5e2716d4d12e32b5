// The thread that reads logs for one diagnosis: one after the other, each answered as soon as it is read.
import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '#kit/error-text';
import { type ScanRequest, scanLogs } from './log-scan.ts';
import { readTail, type TailRequest } from './log-tail.ts';

export type LogWork =
  | { readonly kind: 'scan'; readonly request: ScanRequest }
  | { readonly kind: 'tail'; readonly request: TailRequest };

/** The result of the work with this index. */
export type LogReply =
  | { readonly index: number; readonly result: unknown }
  | { readonly index: number; readonly error: string };

const port = parentPort;
for (const [index, work] of (workerData as readonly LogWork[]).entries()) {
  try {
    const result = work.kind === 'scan' ? await scanLogs(work.request) : readTail(work.request);
    port?.postMessage({ index, result } satisfies LogReply);
  } catch (error) {
    port?.postMessage({ index, error: errorText(error) } satisfies LogReply);
  }
}
