// Describes in words how a process ended.
import type { ExitRecord } from '../contract.ts';

export type Exit = Pick<ExitRecord, 'code' | 'signal'>;

/** `asked` tells whether a stop was requested, `oneshot` whether the process ends by itself when its work is done. */
export function exitRecordOf({ code, signal }: Exit, asked: boolean, oneshot: boolean): ExitRecord {
  const doubt = oneshot && !asked && code === null && signal === null ? '; start it again if its work is not done' : '';
  const reason = `${describeExit({ code, signal }, asked)}${doubt}`;
  return { code, signal, reason, at: Date.now() / 1_000, asked, unexpected: !asked && !(oneshot && code === 0) };
}

function describeExit({ code, signal }: Exit, asked: boolean): string {
  if (signal === 'SIGKILL' && !asked) return 'Killed by signal SIGKILL (possibly out of memory)';
  if (signal !== null) return `Killed by signal ${signal}`;
  return code === null
    ? 'Exited; the code is unknown because it was started by an earlier run'
    : `Exited with code ${code}`;
}
