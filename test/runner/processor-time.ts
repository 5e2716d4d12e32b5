// How much processor time a process has used, with those of its children that have ended and were waited for.
import { readFile } from 'node:fs/promises';

/** Of Linux, on every machine. */
const TICKS_PER_S = 100;
/** Places of user, system, and those of its children among the fields that follow the name. */
const FIRST_FIELD = 11;
const LAST_FIELD = 15;

/** Seconds; 0 where the process is gone. */
export async function processorSeconds(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(FIRST_FIELD, LAST_FIELD).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_S;
}
