// The processor time of a process, including its children that have ended and were waited for.
import { readFile } from 'node:fs/promises';

/** The unit of these fields in Linux, on every machine. */
const TICKS_PER_S = 100;
/** Positions, among the fields after the name, of user and system time of the process and of its children. */
const FIRST_FIELD = 11;
const LAST_FIELD = 15;

/** In seconds; 0 when the process is gone. */
export async function processorSeconds(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(FIRST_FIELD, LAST_FIELD).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_S;
}
