// Why a process was started, in words of the log.
import type { StartTrigger } from '../contract.ts';

export const STARTED_BY: Readonly<Record<StartTrigger, string>> = {
  boot: 'started at boot',
  config: 'started because the configuration file enables it',
  schedule: 'started by its schedule',
  request: 'started on request',
  restart: 'restarted on request',
  'auto-restart': 'restarted automatically',
  hold: 'started by the work that holds it',
  install: 'started after its installation',
};
