// One thread of a task: answers requests with synchronous calls of the file system, one after the other. It may be left
// behind inside of a call that never returns.
import { parentPort, workerData } from 'node:worker_threads';
import { shards } from './shards.ts';
import { Pulse } from './tasks/pulse.ts';
import type { ShardName } from './tasks/shard-pool.ts';
import type { VisitAnswers } from './walk/visit.ts';

interface ShardData {
  readonly name: ShardName;
  readonly options: never;
  readonly memory: SharedArrayBuffer;
}

const { name, options, memory } = workerData as ShardData;
const answer = shards[name](options, new Pulse(memory)) as (request: unknown) => unknown;

parentPort?.on('message', (request: unknown) => {
  try {
    const given = answer(request);
    parentPort?.postMessage({ answer: given }, memoryOf(given));
  } catch (error) {
    parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});

/** The lines of an answer, which are handed over and not copied. */
function memoryOf(given: unknown): ArrayBuffer[] {
  const { lines } = given as Partial<VisitAnswers>;
  return lines === undefined ? [] : [lines.buffer];
}
