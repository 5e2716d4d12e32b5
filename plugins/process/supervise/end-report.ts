// Reports the end of a run, in the log and as an event.
import type { ExitRecord, StopTrigger } from '../contract.ts';
import type { Supervision } from './supervision.ts';

/** Reports a requested stop that has succeeded. */
export function tellOfStop(processName: string, trigger: StopTrigger, { host }: Pick<Supervision, 'host'>): void {
  host.log.info(`${processName} was stopped`);
  host.emit('service_stop', { processName, trigger });
}

/** Reports the end of a run that was not requested. */
export function tellOfExit(
  processName: string,
  { reason, code: exitCode, signal, unexpected }: ExitRecord,
  { host }: Pick<Supervision, 'host'>,
): void {
  if (!unexpected) {
    host.log.info(`${processName} has done its work`);
    return;
  }
  host.log.warn(`${processName} stopped unexpectedly: ${reason}`);
  host.emit('service.stopped.unexpectedly', { processName, reason, exitCode, signal });
}
