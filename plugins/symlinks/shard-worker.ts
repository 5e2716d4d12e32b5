// One thread of a task: answers requests one after the other with synchronous calls of the file system. It may be
// abandoned during a call that never returns.
import { parentPort } from 'node:worker_threads';
import { shards } from './shards.ts';
import { Pulse } from './tasks/pulse.ts';
import type { FromThread, ToThread } from './tasks/shard-thread.ts';
import type { VisitAnswers } from './walk/visit.ts';

type Answer = (request: unknown) => unknown;

let answer: Answer | undefined;

parentPort?.on('message', (message: ToThread) => {
  if ('shard' in message) {
    const make = shards[message.shard] as (options: unknown, pulse: Pulse) => Answer;
    answer = make(message.options, new Pulse(message.memory));
    return;
  }
  try {
    const given = answer?.(message.request);
    tell({ answer: given }, memoryOf(given));
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
  }
});

function tell(message: FromThread, memory: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, memory);
}

/** The memory of the lines of an answer, which is transferred and not copied. */
function memoryOf(given: unknown): ArrayBuffer[] {
  const { lines } = given as Partial<VisitAnswers>;
  return lines === undefined ? [] : [lines.buffer];
}
