// How much living data this process holds.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** After everything that can be collected is gone. */
export function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
