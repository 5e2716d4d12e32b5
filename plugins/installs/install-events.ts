// The event of an installation that failed before a start, and its notification.
import type { Events, Host } from '#core';
import type { NotificationEvent } from '../notifications/contract.ts';
import type {} from './contract.ts';

const FAILED = 'service.preinstall.failed';

const NOTICE: NotificationEvent<Events[typeof FAILED]> = {
  severity: 'critical',
  order: 200,
  describe: ({ processName, reason }) => ({
    title: `The program of ${processName} could not be installed`,
    body: reason,
    serviceName: processName,
  }),
};

export function registerInstallEvents(host: Host): void {
  host.event(FAILED, { description: 'A program could not be installed before the start of its process' });
  host.contribute('notifications.event', FAILED, NOTICE as NotificationEvent);
}
