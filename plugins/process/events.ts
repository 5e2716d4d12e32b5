// The events of process control, and when each is emitted.
import type { Events } from '#core';

export const EVENTS = [
  ['service_start', 'A process was started and lives'],
  ['service_stop', 'A process was stopped on request'],
  ['service.start.failed', 'A process could not be started, or did not stay alive'],
  ['service.stopped.unexpectedly', 'A process ended although nobody had asked for it'],
  ['dumb.startup.ready', 'The start is over, and every service that was expected is ready'],
  ['dumb.startup.degraded', 'The start is over, and some of the services that were expected are not ready'],
] as const satisfies readonly (readonly [keyof Events, string])[];
